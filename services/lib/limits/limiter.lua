-- KEYS[1] hash: bucket -> n. KEYS[2], where there is one: exists while the hash is known to be complete.
-- ARGV: command, n, limit (-1: none), window ms, bucket ms (0: a fixed window, all of it bucket 0),
--   [bucket | bucket, n, bucket, n, ...].
-- Replies {granted or used, bucket, retry after ms, used}, or {-1}: nobody knows what was used (Redis began anew, without
-- its data); "remember" must come first. By the clock of Redis, the one all nodes share.
local command, n, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local window, width = tonumber(ARGV[4]), tonumber(ARGV[5])
local fixed = width == 0
local now, bucket, oldest = 0, 0, 0
if not fixed then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  bucket = math.floor(now / width)
  oldest = math.floor((now - window) / width)
end

if command == 'remember' then
  if redis.call('EXISTS', KEYS[2]) == 1 then return {0} end
  for i = 6, #ARGV, 2 do
    local held = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    if tonumber(ARGV[i + 1]) > held then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
  end
  redis.call('PEXPIRE', KEYS[1], window + 2 * width)
  redis.call('SET', KEYS[2], 1, 'PX', window + 2 * width)
  return {0}
end

if KEYS[2] and limit >= 0 and command ~= 'give' and redis.call('EXISTS', KEYS[2]) == 0 then return {-1} end

if command == 'give' then
  local field = ARGV[6]
  local count = tonumber(redis.call('HGET', KEYS[1], field) or '0')
  if count > 0 then redis.call('HINCRBY', KEYS[1], field, -math.min(n, count)) end
  return {0, bucket, 0, 0}
end

local total, first = 0, nil
local held = {}
if fixed then
  total = tonumber(redis.call('HGET', KEYS[1], 0) or '0')
else
  held = redis.call('HGETALL', KEYS[1])
end
for i = 1, #held, 2 do
  local at, count = tonumber(held[i]), tonumber(held[i + 1])
  if at < oldest or count <= 0 then
    redis.call('HDEL', KEYS[1], held[i])
  else
    total = total + count
    if not first or at < first then first = at end
  end
end

-- Until the oldest bucket that holds something stops counting.
local function wait()
  if fixed then
    local left = redis.call('PTTL', KEYS[1])
    return left > 0 and left or window
  end
  if not first then return width end
  return math.max(1, (first + 1) * width + window - now)
end

if command == 'used' then
  if limit >= 0 and total > 0 then return {total, bucket, wait(), total} end
  return {total, bucket, 0, total}
end

local granted = n
if limit >= 0 then granted = math.max(0, math.min(n, limit - total)) end
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], bucket, granted)
  if not fixed or redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], window + 2 * width) end
  if KEYS[2] and limit >= 0 then redis.call('SET', KEYS[2], 1, 'PX', window + 2 * width) end
end
return {granted, bucket, granted < n and wait() or 0, total + granted}
