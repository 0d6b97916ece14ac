/** A thread with a connection of its own: the writer of a file, or the reader of what is found by its key. */
import { workerData } from 'node:worker_threads';
import type { OpenFile } from './database-files.ts';
import { openReads } from './reads.ts';
import { openSearchWriter } from './search-writer.ts';
import { serve } from './serve.ts';
import { openWriter } from './writer-file.ts';

const { role, file }: { readonly role: 'writer' | 'reader'; readonly file: OpenFile } = workerData;
if (role === 'reader') serve(() => openReads(file));
else serve(() => (file.file === 'search' ? openSearchWriter(file) : openWriter(file)));
