-- KEYS[1] hash: bucket -> n. KEYS[2], where there is one: exists while the hash is known to be complete.
-- ARGV: what, n, limit (-1: none), window ms, bucket ms, [bucket | bucket, n, bucket, n, ...].
-- Answers {granted or used, bucket, retry after ms}, or {-1}: nobody knows what was used (Redis began anew, without its
-- data), tell it by "remember" first. By the clock of Redis, the one all nodes share.
local what, n, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local window, width = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local bucket = math.floor(now / width)
local oldest = math.floor((now - window) / width)

if what == 'remember' then
  if redis.call('EXISTS', KEYS[2]) == 1 then return {0} end
  for i = 6, #ARGV, 2 do
    local held = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    if tonumber(ARGV[i + 1]) > held then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
  end
  redis.call('PEXPIRE', KEYS[1], window + 2 * width)
  redis.call('SET', KEYS[2], 1, 'PX', window + 2 * width)
  return {0}
end

if KEYS[2] and limit >= 0 and what ~= 'give' and redis.call('EXISTS', KEYS[2]) == 0 then return {-1} end

local total, first = 0, nil
local held = redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
  local at, count = tonumber(held[i]), tonumber(held[i + 1])
  if at < oldest or count <= 0 then
    redis.call('HDEL', KEYS[1], held[i])
  else
    total = total + count
    if not first or at < first then first = at end
  end
end

local function wait()
  if not first then return width end
  return math.max(1, (first + 1) * width + window - now)
end

if what == 'give' then
  local field = ARGV[6]
  local count = tonumber(redis.call('HGET', KEYS[1], field) or '0')
  if count > 0 then redis.call('HINCRBY', KEYS[1], field, -math.min(n, count)) end
  return {0, bucket, 0}
end

if what == 'used' then
  if limit >= 0 and total > 0 then return {total, bucket, wait()} end
  return {total, bucket, 0}
end

local granted = n
if limit >= 0 then granted = math.max(0, math.min(n, limit - total)) end
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], bucket, granted)
  redis.call('PEXPIRE', KEYS[1], window + 2 * width)
  if KEYS[2] and limit >= 0 then redis.call('SET', KEYS[2], 1, 'PX', window + 2 * width) end
end
if granted < n then return {granted, bucket, wait()} end
return {granted, bucket, 0}
