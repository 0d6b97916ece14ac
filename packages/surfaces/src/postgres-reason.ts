/** What codes of PostgreSQL mean that a statement did nothing wrong for, with what an operator can do. */
const MEANINGS: Readonly<Record<string, string>> = {
  '25006': 'it takes no writes, as a standby; name the primary server',
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has too many connections; raise max_connections, or let fewer processes use it',
  '57014': 'a statement took too long, or waited too long for others',
  '57P01': 'it is shutting down',
  '57P02': 'it ended after a crash of one of its processes',
  '57P03': 'it is starting, or a standby that takes no connections',
  '58030': 'its disk fails',
};

/** The code alone where it has no meaning of its own. */
export const postgresReason = (code: string): string =>
  MEANINGS[code] === undefined ? code : `${code}: ${MEANINGS[code]}`;
