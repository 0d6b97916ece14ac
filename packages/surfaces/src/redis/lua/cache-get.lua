local name = ARGV[3]
local entry = find(name)
if not entry then return false end
redis.call('ZADD', USED, 'XX', 'GT', now, name)
return entry.raw
