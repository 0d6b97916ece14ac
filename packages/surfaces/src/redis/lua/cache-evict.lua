-- Names of a range, in stretches. How many were evicted so far is kept beside the record until it is written.
local EVICTED_AT_ONCE = 200
local from, to = ARGV[6], ARGV[7]
local PROGRESS = KEYS[8]

local names = redis.call('ZRANGEBYLEX', NAMES, from, to, 'LIMIT', 0, EVICTED_AT_ONCE)
local evicted = tonumber(redis.call('GET', PROGRESS) or 0)
for _, name in ipairs(names) do
  if isGood(name) then evicted = evicted + 1 end
end
local reply = { 'again' }
if #names == EVICTED_AT_ONCE then
  redis.call('SET', PROGRESS, evicted, 'PX', ARGV[5])
else
  reply = record('{"evicted":' .. evicted .. '}')
  redis.call('DEL', PROGRESS)
end
for _, name in ipairs(names) do remove(name) end
setDue()
return reply
