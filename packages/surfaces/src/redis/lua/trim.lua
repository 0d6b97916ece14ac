-- What has expired leaves first, then what was used longest ago. Bounded: whether it is still too much is answered.
local DROPPED_AT_ONCE = 200

local function trim(capacity)
  if usedBytes() <= capacity then return false end
  if removeExpired(DROPPED_AT_ONCE) == DROPPED_AT_ONCE then return usedBytes() > capacity end
  for _ = 1, DROPPED_AT_ONCE do
    if usedBytes() <= capacity then break end
    local oldest = redis.call('ZRANGE', USED, 0, 0)[1]
    if not oldest then break end
    remove(oldest)
  end
  setDue()
  return usedBytes() > capacity
end
