/** Whether the data folder takes what it is given: a full disk and a folder of another user look fine to readers. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, refused } from '../backend-errors.ts';

/** `part` of the data folder, or all of it. */
export async function assertWritable(dataDir: string, part = ''): Promise<void> {
  const folder = join(dataDir, part);
  const probe = join(folder, `.probe-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, 'x', { flag: 'wx', flush: true });
    await rm(probe);
  } catch (error) {
    const where = part === '' ? 'The data folder' : `"${part}" in the data folder`;
    const why = codeOf(error) ?? 'no reason given';
    throw refused(where, `cannot be written (${why}). Look at the space on its disk and at who owns it.`);
  }
}
