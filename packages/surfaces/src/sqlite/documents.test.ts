import { documentsContract } from '../ports/documents-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { embeddedDocuments } from './documents.ts';

documentsContract('embedded', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    portOf: (limits) => embeddedDocuments(database, limits),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
