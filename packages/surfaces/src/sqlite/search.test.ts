import { SEARCH_CONTRACT_LIMITS, searchContract } from '../ports/search-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openDatabase } from './database.ts';
import { embeddedSearch } from './search.ts';

searchContract('embedded', async () => {
  const folder = freshFolder();
  const database = openDatabase({ dataDir: folder.path });
  return {
    port: embeddedSearch(database, SEARCH_CONTRACT_LIMITS),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
