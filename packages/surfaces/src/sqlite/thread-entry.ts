/** A thread with its own connection: the writer of a file, or the reader for reads by key. */
import type { OpenFile } from './database-files.ts';
import { openReads } from './reads.ts';
import { openSearchWriter } from './search-writer.ts';
import { serve } from './serve.ts';
import { openWriter } from './writer-file.ts';

export interface ThreadData {
  readonly role: 'writer' | 'reader';
  readonly file: OpenFile;
}

serve(({ role, file }: ThreadData) => {
  if (role === 'reader') return openReads(file);
  return file.file === 'search' ? openSearchWriter(file) : openWriter(file);
});
