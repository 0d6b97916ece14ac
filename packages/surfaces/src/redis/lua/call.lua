-- A call acts once. ARGV: now, tenant, method, fingerprint, how long its record is kept, then what the script takes.
local before = redis.call('GET', CALL)
if before then return { 'recorded', before } end

local function record(answer)
  redis.call('SET', CALL, ARGV[3] .. '\n' .. ARGV[4] .. '\n' .. answer, 'PX', ARGV[5])
  return { 'done', answer }
end
