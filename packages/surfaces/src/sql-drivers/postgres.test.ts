import { after, describe, test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { SQL_CONTRACT_LIMITS, sqlContract } from '../ports/sql-contract.ts';
import { SQL_SERVER_TIMEOUT_MS, sqlServerContract } from '../ports/sql-server-contract.ts';
import { postgresBackend } from './postgres.ts';

const found = await freshDatabase();

if ('skip' in found) test('PostgreSQL as a data source', { skip: found.skip });
else
  describe('PostgreSQL as a data source', () => {
    after(() => found.drop());
    const { url } = found;
    sqlContract('PostgreSQL', async () => {
      const backend = postgresBackend({ url, limits: SQL_CONTRACT_LIMITS });
      const words = { bytes: 'bytea', time: 'timestamp', zonedTime: 'timestamptz' };
      return { backend, words, close: () => backend.close() };
    });
    sqlServerContract('PostgreSQL', {
      url,
      open: (address) =>
        postgresBackend({
          url: address,
          limits: { ...SQL_CONTRACT_LIMITS, timeoutMs: SQL_SERVER_TIMEOUT_MS },
        }),
    });
  });
