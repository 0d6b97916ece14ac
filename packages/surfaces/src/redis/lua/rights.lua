-- What of all that the other scripts do the user may not do. Under the key is nothing, and nothing is put there: HSET
-- gets one argument too many.
local key = KEYS[1]
local COMMANDS = {
  { 'EXISTS', key }, { 'GET', key }, { 'SET', key, '', 'XX' }, { 'DEL', key },
  { 'HGET', key, '' }, { 'HSTRLEN', key, '' }, { 'HSET', key, '', '', '' }, { 'HDEL', key, '' },
  { 'ZCARD', key }, { 'ZSCORE', key, '' }, { 'ZRANGE', key, 0, 0 }, { 'ZRANGEBYLEX', key, '[', '[' },
  { 'ZRANGEBYSCORE', key, 0, 0 }, { 'ZADD', key, 'XX', 0, '' }, { 'ZREM', key, '' },
}
local denied = {}
for _, command in ipairs(COMMANDS) do
  local reply = redis.pcall(unpack(command))
  local why = type(reply) == 'table' and reply.err or ''
  -- As `errors.ts` has it: servers say it in different words
  if string.find(why, 'NOPERM') or string.find(why, 'ACL failure') or string.find(why, 'user executing the script') then
    denied[#denied + 1] = command[1]
  end
end
return denied
