-- The entries of one tenant, and the record of one call. Every script begins with this text.
--
-- I1  One script is one step: nothing else happens meanwhile.
-- I2  The first thing written is the record of the call. A server without room or disk refuses that, and so has
--     changed nothing.
--
-- An entry is its end in milliseconds (16 digits, zero for none), a mark (43 characters) and its JSON.
-- Its name is `<bytes of the namespace>:<namespace><key>`. Namespace, key and JSON count, and an overhead for what is
-- kept beside them.
local ENTRIES, NAMES, EXPIRY, SIZE, DUE, CALL, USED = unpack(KEYS)
local now, tenant = tonumber(ARGV[1]), ARGV[2]
local END_LENGTH, HEAD_LENGTH = 16, 59
-- As `kv/entry-bytes.ts` has it.
local ENTRY_OVERHEAD_BYTES = 256

local function bytesOf(name, textLength)
  local digits = string.match(name, '^%d+')
  return ENTRY_OVERHEAD_BYTES + #name - #digits - 1 + textLength
end

local function storedBytes(name)
  local length = redis.call('HSTRLEN', ENTRIES, name)
  if length == 0 then return 0 end
  return bytesOf(name, length - HEAD_LENGTH)
end

-- For entries of a version that counted otherwise, under another name. Once for each tenant.
local function recount()
  local bytes, last = 0, redis.call('ZCARD', NAMES) - 1
  for from = 0, last, 1000 do
    for _, name in ipairs(redis.call('ZRANGE', NAMES, from, from + 999)) do bytes = bytes + storedBytes(name) end
  end
  redis.call('SET', SIZE, string.format('%.0f', bytes))
  redis.call('DEL', (string.gsub(SIZE, 'size$', 'bytes')))
  return bytes
end

local function usedBytes()
  local size = redis.call('GET', SIZE)
  if size then return tonumber(size) end
  return redis.call('EXISTS', ENTRIES) == 1 and recount() or 0
end

local function find(name)
  local entry = redis.call('HGET', ENTRIES, name)
  if not entry then return nil end
  local ends = tonumber(string.sub(entry, 1, END_LENGTH))
  if ends > 0 and ends <= now then return nil end
  local text = string.sub(entry, HEAD_LENGTH + 1)
  return { ends = ends, mark = string.sub(entry, END_LENGTH + 1, HEAD_LENGTH), text = text, raw = entry }
end

local function isGood(name)
  local ends = redis.call('ZSCORE', EXPIRY, name)
  return not ends or tonumber(ends) > now
end

-- The sweeper looks for tenants whose first end has come.
local function setDue()
  local first = redis.call('ZRANGE', EXPIRY, 0, 0, 'WITHSCORES')
  if first[2] then redis.call('ZADD', DUE, first[2], tenant) else redis.call('ZREM', DUE, tenant) end
end

local function remove(name)
  local left = usedBytes() - storedBytes(name)
  if left > 0 then redis.call('SET', SIZE, string.format('%.0f', left)) else redis.call('DEL', SIZE) end
  redis.call('HDEL', ENTRIES, name)
  redis.call('ZREM', NAMES, name)
  redis.call('ZREM', EXPIRY, name)
  if USED then redis.call('ZREM', USED, name) end
end

local function save(name, ends, mark, text)
  local size = usedBytes() + bytesOf(name, #text) - storedBytes(name)
  redis.call('SET', SIZE, string.format('%.0f', size))
  redis.call('HSET', ENTRIES, name, string.format('%016d', ends) .. mark .. text)
  redis.call('ZADD', NAMES, 0, name)
  if ends > 0 then redis.call('ZADD', EXPIRY, ends, name) else redis.call('ZREM', EXPIRY, name) end
  setDue()
end

local function removeExpired(count)
  local names = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', now, 'LIMIT', 0, count)
  for _, name in ipairs(names) do remove(name) end
  if #names > 0 then setDue() end
  return #names
end
