/** The file of the master key, for hosts without a master key in their settings. */
import { randomBytes } from 'node:crypto';
import { link, open as openFile, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

export const KEY_FILE = 'master.key';
const KEY_BYTES = 32;

/** Created at the first start, atomically; of two processes, one creates it. */
export async function keyFromFile(dataDir: string): Promise<string> {
  const file = path.join(dataDir, KEY_FILE);
  const kept = await readKey(file);
  if (kept !== null) return kept;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await openFile(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  await syncFolder(dataDir);
  const made = await readKey(file);
  if (made === null) throw new Error(`${file} disappeared while it was created`);
  return made;
}

async function readKey(file: string): Promise<string | null> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    if (/^[0-9a-f]{64}$/.test(text)) return text;
    throw new Error(`${KEY_FILE} in the data folder is damaged. Restore it from a backup.`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await openFile(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
