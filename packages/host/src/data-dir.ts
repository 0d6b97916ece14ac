import { mkdir } from 'node:fs/promises';
import { SettingsError } from '@gantry/http';

/** It holds all durable data, so only its owner may read it. */
export async function createDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in its place' : (code ?? message);
    throw new SettingsError(
      `The data folder ${dataDir} cannot be created (${why}). Choose another with --data or GANTRY_DATA_DIR.`,
      { cause: error },
    );
  }
}
