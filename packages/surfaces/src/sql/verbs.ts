/** What statements begin with in SQLite, PostgreSQL, MySQL and MariaDB, beside those that nodes may send. */
const VERBS = [
  'analyze begin commit end explain release rename rollback savepoint table',
  'attach detach pragma reindex vacuum',
  'abort analyse call checkpoint close cluster comment copy deallocate declare discard do execute fetch grant',
  'import listen load lock move notify prepare reassign refresh repack reset revoke security set show start',
  'unlisten wait',
  'backup binlog cache change check checksum clone delimiter desc describe flush get handler help install kill',
  'leave optimize purge repair resignal restart return shutdown signal slave source stop uninstall unlock use xa',
];

/** Whoever sends one asks for more than nodes may do; anything else is a slip of the pen. */
export const OTHER_VERBS: ReadonlySet<string> = new Set(VERBS.flatMap((line) => line.split(' ')));
