-- One stretch of names: at most so many of those that are still good, and where it ended; nothing when there are no
-- more. Its length is fixed, so that expired names cost few calls however few are asked for.
local NAMES_AT_ONCE = 1000
local from, to, count = ARGV[3], ARGV[4], tonumber(ARGV[5])
local names = redis.call('ZRANGEBYLEX', NAMES, from, to, 'LIMIT', 0, NAMES_AT_ONCE)
local good = {}
for _, name in ipairs(names) do
  if #good == count then break end
  if isGood(name) then good[#good + 1] = name end
end
return { good, #names == NAMES_AT_ONCE and names[#names] or nil }
