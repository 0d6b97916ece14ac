/** `--trust FILE`: the trust file of a host, for what is proved here. */
import path from 'node:path';
import { readTrustFile, type TrustFile, TrustFileError } from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';

export async function trustFileOf({ args, io }: Pick<Call, 'args' | 'io'>): Promise<TrustFile | undefined> {
  const file = args.text('trust');
  if (file === undefined) return;
  return readTrustFile(path.resolve(io.cwd, file)).catch((error: unknown) => {
    throw error instanceof TrustFileError ? new UsageError(`--trust: ${error.message}`) : error;
  });
}
