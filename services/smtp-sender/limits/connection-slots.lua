-- KEYS[1] sorted set: holder -> when its slot ends. KEYS[2] sorted set: node with demand -> until when it counts.
-- ARGV: most slots of all nodes, life of a slot in ms, life of a node's demand in ms, node, "1" if it has demand,
--   "1" to keep the holders even where there is no room, slots the node already holds besides them, holders.
-- Returns how many of the holders have a slot now, and the fair share of each node with demand.
local max, slotLife, demandLife = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local node, demand, keep, own = ARGV[4], ARGV[5] == '1', ARGV[6] == '1', tonumber(ARGV[7])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if demand then redis.call('ZADD', KEYS[2], now + demandLife, node) end
local share = math.ceil(max / math.max(1, redis.call('ZCARD', KEYS[2])))
local held = 0
for i = 8, #ARGV do
  local free = own < share and redis.call('ZCARD', KEYS[1]) < max
  if keep or free then
    redis.call('ZADD', KEYS[1], now + slotLife, ARGV[i])
    held = held + 1
    own = own + 1
  end
end
redis.call('PEXPIRE', KEYS[1], slotLife * 2)
redis.call('PEXPIRE', KEYS[2], demandLife * 2)
return {held, share}
