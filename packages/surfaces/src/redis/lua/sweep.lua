local count = tonumber(ARGV[3])
return removeExpired(count)
