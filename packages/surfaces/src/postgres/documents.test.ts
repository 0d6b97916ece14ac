import { describe } from 'node:test';
import { DOCUMENTS_CONTRACT_LIMITS, documentsContract } from '../ports/documents-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresDocuments } from './documents.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  documentsContract('postgres', async () => {
    const { database, close } = await openTestPostgres();
    return { port: postgresDocuments(database, DOCUMENTS_CONTRACT_LIMITS), close };
  });
});
