/** Every area of the database. A new surface adds its line here, and its tables to `schema/surfaces.sql`. */
import { blobArea } from './blobs.ts';
import { cacheArea } from './cache.ts';
import { documentsArea } from './documents.ts';
import { fileArea } from './files.ts';
import { invocationArea } from './invocations.ts';
import { kvArea } from './kv.ts';
import { queueArea } from './queue.ts';

export const AREAS = {
  invocations: invocationArea,
  kv: kvArea,
  cache: cacheArea,
  documents: documentsArea,
  queue: queueArea,
  blobs: blobArea,
  files: fileArea,
} as const;
