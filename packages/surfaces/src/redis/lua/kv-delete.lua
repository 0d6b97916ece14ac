local name = ARGV[6]
local reply = record('{"deleted":' .. tostring(find(name) ~= nil) .. '}')
remove(name)
setDue()
return reply
