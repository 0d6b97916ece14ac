import { workerData } from 'node:worker_threads';
import type { OpenFile } from './database-files.ts';
import { openSearchWriter } from './search-writer.ts';
import { serve } from './serve.ts';
import { openWriter } from './writer-file.ts';

const file = workerData as OpenFile;
serve(() => (file.file === 'search' ? openSearchWriter(file) : openWriter(file)));
