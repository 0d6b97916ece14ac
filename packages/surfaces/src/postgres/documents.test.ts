import { describe } from 'node:test';
import { documentsContract } from '../ports/documents-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresDocuments } from './documents.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  documentsContract('postgres', async () => {
    const { database, close } = await openTestPostgres();
    return { portOf: (limits) => postgresDocuments(database, limits), close };
  });
});
