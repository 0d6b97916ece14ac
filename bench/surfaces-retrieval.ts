/** Nearest vectors and full text in the embedded database, and the libraries below it called directly. */

import { SEARCH_LIMITS } from '../packages/surfaces/src/capabilities/search/surface.ts';
import { VECTOR_LIMITS } from '../packages/surfaces/src/capabilities/vector/surface.ts';
import { openDatabase } from '../packages/surfaces/src/sqlite/database.ts';
import { embeddedSearch } from '../packages/surfaces/src/sqlite/search.ts';
import { embeddedVectors } from '../packages/surfaces/src/sqlite/vectors.ts';
import { clusteredVectors, seededRandom } from '../packages/surfaces/src/testing/random-vectors.ts';
import { fill as fillIndex, openDirect as openFts5, textsOf } from './full-text.ts';
import { freshFolder } from './servers.ts';
import type { OpenedBackend } from './surfaces-backends.ts';
import { COLLECTION, DIMENSIONS, VECTORS } from './surfaces-works.ts';
import { fill as fillCollection, openDirect as openVec } from './vectors.ts';

const QUESTIONS = 8;

interface Corpus {
  readonly vectors: readonly Float32Array[];
  readonly texts: readonly string[];
}

/** Filled through the ports, before the surfaces open the same folder. */
async function fill(dataDir: string, { vectors, texts }: Corpus): Promise<void> {
  const embedded = openDatabase({ dataDir });
  await fillCollection(embeddedVectors(embedded, VECTOR_LIMITS), COLLECTION, vectors);
  await fillIndex(embeddedSearch(embedded, SEARCH_LIMITS), texts);
  await embedded.close();
}

export async function openRetrieval(dataDir: string, count: number): Promise<OpenedBackend> {
  const random = seededRandom(1);
  const made = clusteredVectors(count + QUESTIONS, DIMENSIONS, random);
  const [vectors, near] = [made.slice(0, count), made.slice(count)];
  const { words, texts } = textsOf(count, random);
  const questions = near.map((_, at) => words.slice(300 + 3 * at, 303 + 3 * at));
  const folder = freshFolder(dataDir);
  await fill(folder, { vectors, texts });
  const vec = openVec(freshFolder(dataDir), vectors);
  const fts5 = openFts5(freshFolder(dataDir), texts);
  let inserted = count;
  return {
    settings: {},
    dataDir: folder,
    questions: {
      'vector query': near.map((vector) => [...vector]),
      'search query': questions.map((each) => each.join(' ')),
    },
    works: {
      'vector query': async (_lane, turn) => {
        vec.ask(near[turn % QUESTIONS]!);
        return 1;
      },
      'vector upsert': async () => {
        vec.insert(inserted, clusteredVectors(VECTORS, DIMENSIONS, random));
        inserted += VECTORS;
        return VECTORS;
      },
      'search query': async (_lane, turn) => {
        fts5.ask(questions[turn % QUESTIONS]!.join(' OR '));
        return 1;
      },
    },
    async close() {
      vec.close();
      fts5.close();
    },
  };
}
