-- What has expired makes room. Bounded: a call that needs more of it comes again.
local EXPIRED_AT_ONCE = 200

-- Nothing when there is room, else the reply.
local function refusal(name, text, quota)
  local function growth() return bytesOf(name, #text) - storedBytes(name) end
  local function fits() return growth() <= 0 or usedBytes() + growth() <= quota end
  if fits() then return nil end
  local removed = removeExpired(EXPIRED_AT_ONCE)
  if fits() then return nil end
  if removed == EXPIRED_AT_ONCE then return { 'again' } end
  return { 'refused', 'full' }
end
