local name, ends, mark, text, capacity = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], tonumber(ARGV[10])
local reply = record('null')
save(name, ends, mark, text)
redis.call('ZADD', USED, now, name)
reply[3] = trim(capacity) and 'full' or 'fits'
return reply
