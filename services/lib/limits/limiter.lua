-- KEYS[1] hash: bucket -> n. A window with a ledger also has the fields run (run id of the Redis server that counted)
-- and epoch. ARGV: command (take, give_back or begin), n, limit (-1: none), window ms, bucket ms (0: a fixed window,
-- all of it bucket 0), run ("": no ledger), then
--   give_back: bucket
--   begin: epoch, then bucket, n, ...
-- Replies {granted, bucket, retry after ms, used, epoch}. {-1}: the count is lost, and "begin" must come first.
-- Uses the clock of Redis, which all nodes share.
local command, n, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local window, width, run = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local fixed = width == 0
local now, bucket, oldest = 0, 0, 0
if not fixed then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  bucket = math.floor(now / width)
  oldest = math.floor((now - window) / width)
end
local ttl = window + 2 * width

if command == 'give_back' then
  local count = tonumber(redis.call('HGET', KEYS[1], ARGV[7]) or '0')
  if count > 0 then redis.call('HINCRBY', KEYS[1], ARGV[7], -math.min(n, count)) end
  return {0}
end

local stored = run ~= '' and redis.call('HMGET', KEYS[1], 'run', 'epoch') or {}

if command == 'begin' then
  if stored[1] == run and tonumber(stored[2]) >= tonumber(ARGV[7]) then return {0} end
  -- Tokens counted while there was no limit have no epoch and are in no ledger: their counts are kept.
  if stored[1] then redis.call('DEL', KEYS[1]) end
  for i = 8, #ARGV, 2 do
    local count = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    redis.call('HSET', KEYS[1], ARGV[i], math.max(count, tonumber(ARGV[i + 1])))
  end
  redis.call('HSET', KEYS[1], 'run', run, 'epoch', ARGV[7])
  redis.call('PEXPIRE', KEYS[1], ttl)
  return {0}
end

if run ~= '' and stored[1] ~= run then return {-1} end

local total, first = 0, nil
local held = redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
  local at, count = tonumber(held[i]), tonumber(held[i + 1])
  if at and at < oldest then
    redis.call('HDEL', KEYS[1], held[i])
  elseif at and count > 0 then
    total = total + count
    if not first or at < first then first = at end
  end
end

local granted = limit < 0 and n or math.max(0, math.min(n, limit - total))
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], bucket, granted)
  if not fixed or redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
end
local retry = 0
if granted < n or (n == 0 and limit >= 0 and total > 0) then
  -- The retry time is when the oldest non-empty bucket leaves the window.
  if fixed then
    local left = redis.call('PTTL', KEYS[1])
    retry = left > 0 and left or window
  else
    retry = first and math.max(1, (first + 1) * width + window - now) or width
  end
end
return {granted, bucket, retry, total + granted, tonumber(stored[2] or '0')}
