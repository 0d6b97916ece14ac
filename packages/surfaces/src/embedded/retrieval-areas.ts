/** Areas of the databases of vectors and full text. */
import { invocationArea } from './invocations.ts';
import { searchArea } from './search.ts';
import { vectorsArea } from './vectors.ts';

export const VECTOR_AREAS = { invocations: invocationArea, vectors: vectorsArea } as const;

export const SEARCH_AREAS = { invocations: invocationArea, search: searchArea } as const;
