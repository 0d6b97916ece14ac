return trim(tonumber(ARGV[3])) and 'full' or 'fits'
