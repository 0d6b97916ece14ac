import { open } from 'node:fs/promises';

/** Makes names in the folder durable. A name lost in a crash would falsify whether a rename happened. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
