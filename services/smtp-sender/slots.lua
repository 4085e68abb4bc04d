-- KEYS[1] sorted set: holder -> when its slot ends. ARGV: max, life in ms, holders. Answers how many of them have a slot now.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local held = 0
for i = 3, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) or redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
    redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[i])
    held = held + 1
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
return held
