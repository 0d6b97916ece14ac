/** A call gate with vectors and full text in a folder of its own. */
import { implementSearch, SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import { implementVectors, VECTOR_LIMITS } from '../capabilities/vector/surface.ts';
import { openDatabase } from '../sqlite/database.ts';
import { embeddedSearch } from '../sqlite/search.ts';
import { embeddedVectors } from '../sqlite/vectors.ts';
import { freshFolder } from './data-dir.ts';
import { callGateOf, type TestCallGate } from './test-call-gate.ts';

export interface RetrievalCallGate extends TestCallGate {
  close(): Promise<void>;
}

export function retrievalCallGate(): RetrievalCallGate {
  const folder = freshFolder();
  const database = openDatabase({ dataDir: folder.path });
  const vectors = implementVectors({ port: embeddedVectors(database, VECTOR_LIMITS) });
  const search = implementSearch({ port: embeddedSearch(database, SEARCH_LIMITS) });
  return {
    ...callGateOf([vectors, search]),
    async close() {
      await database.close();
      folder.remove();
    },
  };
}
