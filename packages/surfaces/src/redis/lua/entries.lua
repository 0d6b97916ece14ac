-- The entries of one tenant, and the record of one call. Every script begins with this text.
--
-- I1  One script is one step: nothing else happens meanwhile.
-- I2  The first thing written is the record of the call. A server without room or disk refuses that, and so has
--     changed nothing.
--
-- An entry is its end in milliseconds (16 digits, zero for none), a mark (43 characters) and its JSON.
-- Its name is `<bytes of the namespace>:<namespace><key>`. Only bytes of keys and JSON are counted.
local ENTRIES, NAMES, EXPIRY, BYTES, DUE, CALL, USED = unpack(KEYS)
local now, tenant = tonumber(ARGV[1]), ARGV[2]
local END_LENGTH, HEAD_LENGTH = 16, 59

local function keyLength(name)
  local length = string.match(name, '^%d+')
  return #name - #length - 1 - tonumber(length)
end

local function storedBytes(name)
  local length = redis.call('HSTRLEN', ENTRIES, name)
  if length == 0 then return 0 end
  return length - HEAD_LENGTH + keyLength(name)
end

local function usedBytes()
  return tonumber(redis.call('GET', BYTES) or 0)
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
  local bytes = storedBytes(name)
  if redis.call('DECRBY', BYTES, bytes) <= 0 then redis.call('DEL', BYTES) end
  redis.call('HDEL', ENTRIES, name)
  redis.call('ZREM', NAMES, name)
  redis.call('ZREM', EXPIRY, name)
  if USED then redis.call('ZREM', USED, name) end
end

local function save(name, ends, mark, text)
  redis.call('INCRBY', BYTES, keyLength(name) + #text - storedBytes(name))
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
