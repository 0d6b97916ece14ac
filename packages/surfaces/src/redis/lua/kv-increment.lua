local name, delta, mark, quota = ARGV[6], tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9])
local EXACT_MAX = 9007199254740991

-- The shortest text that means the same number.
local function textOf(number)
  if number == 0 then return '0' end
  for digits = 15, 17 do
    local text = string.format('%.' .. digits .. 'g', number)
    if tonumber(text) == number then return text end
  end
end

local entry = find(name)
if entry and entry.mark ~= mark then return { 'refused', 'not_a_number' } end
local previous = entry and tonumber(entry.text) or 0
local value = previous + delta
if math.abs(value) > EXACT_MAX then return { 'refused', 'too_large' } end
local text = textOf(value)
local refused = refusal(name, text, quota)
if refused then return refused end
local reply = record('{"value":' .. text .. ',"previous":' .. textOf(previous) .. '}')
save(name, entry and entry.ends or 0, mark, text)
return reply
