/** Areas of the database of vectors and full text. */
import { invocationArea } from './invocations.ts';
import { searchArea } from './search.ts';
import { vectorsArea } from './vectors.ts';

export const RETRIEVAL_AREAS = {
  invocations: invocationArea,
  vectors: vectorsArea,
  search: searchArea,
} as const;
