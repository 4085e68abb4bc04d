-- KEYS[1] sorted set: "sender slot" -> expiry of the slot. KEYS[2] sorted set: sender with demand -> expiry of its demand.
-- KEYS[3]: time since which this server counts slots.
-- ARGV: maximum slots of all senders, life of a slot in ms, life of a sender's demand in ms, sender, "1" if it has demand,
--   "1" to keep the slots even if there is no room, slots the sender already holds besides them, number of other live
--   senders, their names, slots.
-- Returns the number of slots held now, and the fair share of each sender with demand.
local max, slotLife, demandLife = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local sender, demand, keep, own = ARGV[4], ARGV[5] == '1', ARGV[6] == '1', tonumber(ARGV[7])
local others = tonumber(ARGV[8])
local firstSlot = 9 + others
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local lives = {}
for i = 9, firstSlot - 1 do lives[ARGV[i]] = true end
-- Slots that are not renewed: the sender has died, or it lives with open connections but cannot reach this server.
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  if not lives[string.match(slot, '^(.*) ')] then redis.call('ZREM', KEYS[1], slot) end
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if demand then redis.call('ZADD', KEYS[2], now + demandLife, sender) end
local share = math.ceil(max / math.max(1, redis.call('ZCARD', KEYS[2])))

-- A new or emptied server does not know the slots of others until they have renewed them.
redis.call('SET', KEYS[3], now, 'NX')
redis.call('PEXPIRE', KEYS[3], 86400000)
local unknown = others > 0 and now - tonumber(redis.call('GET', KEYS[3])) < slotLife

local held = 0
for i = firstSlot, #ARGV do
  local free = not unknown and own < share and redis.call('ZCARD', KEYS[1]) < max
  if keep or free then
    redis.call('ZADD', KEYS[1], now + slotLife, sender .. ' ' .. ARGV[i])
    held = held + 1
    own = own + 1
  end
end
-- Kept as long as a sender may hold slots while it is cut off.
redis.call('PEXPIRE', KEYS[1], 3600000)
redis.call('PEXPIRE', KEYS[2], demandLife * 2)
return {held, share}
