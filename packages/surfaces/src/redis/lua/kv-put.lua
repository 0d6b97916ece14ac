local name, ends, mark, text, quota = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9], tonumber(ARGV[10])
local replaced = find(name) ~= nil
local refused = refusal(name, text, quota)
if refused then return refused end
local reply = record('{"replaced":' .. tostring(replaced) .. '}')
save(name, ends, mark, text)
return reply
