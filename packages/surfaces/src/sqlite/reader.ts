/** The reader thread, for what is found by its key: its own connection, so that no read holds up a write. */
import { workerData } from 'node:worker_threads';
import type { OpenFile } from './database-files.ts';
import { openReads } from './reads.ts';
import { serve } from './serve.ts';

serve(() => openReads(workerData as OpenFile));
