import { VECTORS_CONTRACT_LIMITS, vectorsContract } from '../ports/vectors-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresVectors } from './vectors.ts';

vectorsContract(
  'postgres',
  async () => {
    const { database, close } = await openTestPostgres();
    const { port } = postgresVectors(database, () => VECTORS_CONTRACT_LIMITS);
    return { port, close };
  },
  postgresSkip,
);
