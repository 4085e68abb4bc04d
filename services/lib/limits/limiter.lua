-- KEYS[1] hash: bucket -> n. KEYS[2], for a window with a ledger, a hash: run (the server that it was counted on), epoch,
--   credit (what the ledger allows to be taken still), from (when that was reserved, by this clock).
-- ARGV: command, n, limit (-1: none), window ms, bucket ms (0: a fixed window, all of it bucket 0), then by command
--   give: bucket
--   take: with a ledger: run [, epoch, n, from: the block that was reserved]
--   used: with a ledger: run
--   begin: run, epoch, the epoch it replaces ("": whatever is not of this run) [, age in ms, n, ...]
-- Replies {granted or used, bucket, retry after ms, used}. {-1, 0, 0, 0, epoch}: nobody knows what was used, because this
-- server is another one or has lost data; "begin" must come first. {-2, n, now, 0, epoch}: reserve a block of n first.
-- By the clock of Redis, the one all nodes share.
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

if command == 'give' then
  local count = tonumber(redis.call('HGET', KEYS[1], ARGV[6]) or '0')
  if count > 0 then redis.call('HINCRBY', KEYS[1], ARGV[6], -math.min(n, count)) end
  return {0, bucket, 0, 0}
end

-- As blockLifeMs in limiter.ts. What was reserved may be taken for so long: counts of a new beginning lie that far ahead.
local blockLife = math.max(1000, width)
local life = window + 2 * width + (KEYS[2] and 2 * blockLife or 0)

if command == 'begin' then
  local old = redis.call('HMGET', KEYS[2], 'run', 'epoch')
  if old[1] == ARGV[6] and old[2] ~= ARGV[8] and redis.call('EXISTS', KEYS[1]) == 1 then return {0, 0, 0, 0} end
  -- Without an epoch they are counts of a time without a limit: true, and in no ledger.
  if old[1] then redis.call('DEL', KEYS[1]) end
  local sums = {}
  for i = 9, #ARGV, 2 do
    local at = math.floor((now - tonumber(ARGV[i])) / width)
    if at >= oldest then sums[at] = (sums[at] or 0) + tonumber(ARGV[i + 1]) end
  end
  for at, sum in pairs(sums) do
    if sum > tonumber(redis.call('HGET', KEYS[1], at) or '0') then redis.call('HSET', KEYS[1], at, sum) end
  end
  redis.call('HSETNX', KEYS[1], bucket, 0)
  redis.call('HSET', KEYS[2], 'run', ARGV[6], 'epoch', ARGV[7], 'credit', 0, 'from', 0)
  redis.call('PEXPIRE', KEYS[1], life)
  redis.call('PEXPIRE', KEYS[2], life)
  return {0, 0, 0, 0}
end

local total, first = 0, nil
local held = {}
if fixed then
  total = tonumber(redis.call('HGET', KEYS[1], 0) or '0')
else
  held = redis.call('HGETALL', KEYS[1])
end

local ledger
if KEYS[2] then
  if limit >= 0 then
    ledger = redis.call('HMGET', KEYS[2], 'run', 'epoch', 'credit', 'from')
    if ledger[1] ~= ARGV[6] or #held == 0 then return {-1, 0, 0, 0, ledger[2] or ''} end
  elseif #held == 0 then
    -- What begins here is no whole count: the epoch of the one that is gone must not vouch for it.
    redis.call('DEL', KEYS[2])
  end
end

for i = 1, #held, 2 do
  local at, count = tonumber(held[i]), tonumber(held[i + 1])
  if at < oldest then
    redis.call('HDEL', KEYS[1], held[i])
  elseif count > 0 then
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

if ledger and granted > 0 then
  local function isAlive(from) return from <= now and now - from < blockLife end
  local alive = isAlive(tonumber(ledger[4]))
  local credit = alive and tonumber(ledger[3]) or 0
  if granted <= credit then
    redis.call('HINCRBY', KEYS[2], 'credit', -granted)
  elseif ARGV[7] == ledger[2] and isAlive(tonumber(ARGV[9])) then
    granted = math.min(granted, credit + tonumber(ARGV[8]))
    redis.call('HSET', KEYS[2], 'credit', tonumber(ARGV[8]) - granted + credit, 'from', ARGV[9])
  else
    -- Larger where the last block was used up in its time, so that a fast company reserves some fifty times in its window.
    local block = granted - credit
    if alive then block = math.min(limit - total, math.max(block, math.ceil(limit / 50))) end
    return {-2, block, now, 0, ledger[2]}
  end
end

if granted > 0 then
  redis.call('HINCRBY', KEYS[1], bucket, granted)
  if not fixed or redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], life) end
  if ledger then redis.call('PEXPIRE', KEYS[2], life) end
end
local retry = 0
if granted < n then retry = granted < limit - total and 1 or wait() end
return {granted, bucket, retry, total + granted}
