local name, quota, actualMax = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local expectedMark, expectedText, mark, text = ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local numberMark, nullMark = ARGV[13], ARGV[14]

local entry = find(name)

-- Marks of other values are digests. Numbers are compared as such, since each side may write them in its own way.
local function isExpected()
  if not entry then return expectedMark == nullMark end
  if entry.mark ~= expectedMark then return false end
  return entry.mark ~= numberMark or tonumber(entry.text) == tonumber(expectedText)
end

if not isExpected() then
  local actual = entry and entry.text or 'null'
  if #actual > actualMax then return record('{"swapped":false}') end
  return record('{"swapped":false,"actual":' .. actual .. '}')
end
local refused = refusal(name, text, quota)
if refused then return refused end
local reply = record('{"swapped":true}')
save(name, entry and entry.ends or 0, mark, text)
return reply
