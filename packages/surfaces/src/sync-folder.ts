import { open } from 'node:fs/promises';

/** Names in it are on the disk then: one that is lost in a crash would look like a rename that happened, or did not. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
