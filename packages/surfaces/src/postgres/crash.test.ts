import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { findCrashPostgres } from '../testing/crash-servers.ts';

const found = await findCrashPostgres();

surfaceCrashContract('PostgreSQL', found, {
  works: [
    'increment',
    'swap',
    'cache',
    'table',
    'documents',
    'vectors',
    'search',
    'publish',
    'consume',
    'blobs',
  ],
  settingsOf: (database) => ({ database }),
});
