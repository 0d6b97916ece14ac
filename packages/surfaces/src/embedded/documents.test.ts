import { DOCUMENTS_CONTRACT_LIMITS, documentsContract } from '../ports/documents-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { embeddedDocuments } from './documents.ts';

documentsContract('embedded', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    port: embeddedDocuments(database, DOCUMENTS_CONTRACT_LIMITS),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
