-- One stretch of names: those that are still good, and where it ended; nothing when there are no more.
local from, to, count = ARGV[3], ARGV[4], tonumber(ARGV[5])
local names = redis.call('ZRANGEBYLEX', NAMES, from, to, 'LIMIT', 0, count)
local good = {}
for _, name in ipairs(names) do
  if isGood(name) then good[#good + 1] = name end
end
return { good, #names == count and names[#names] or nil }
