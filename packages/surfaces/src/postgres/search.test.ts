import { SEARCH_CONTRACT_LIMITS, searchContract } from '../ports/search-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresSearch } from './search.ts';

searchContract(
  'postgres',
  async () => {
    const { database, close } = await openTestPostgres();
    return { port: postgresSearch(database, SEARCH_CONTRACT_LIMITS), close };
  },
  postgresSkip,
);
