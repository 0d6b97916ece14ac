/** `--trust FILE`: the trust file of a host, for what is proved here. */
import path from 'node:path';
import { readTrustFile, sameRegistry, type TrustedKey, type TrustFile, TrustFileError } from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';

export async function trustFileOf({ args, io }: Pick<Call, 'args' | 'io'>): Promise<TrustFile | undefined> {
  const file = args.text('trust');
  if (file === undefined) return;
  return readTrustFile(path.resolve(io.cwd, file)).catch((error: unknown) => {
    throw error instanceof TrustFileError ? new UsageError(`--trust: ${error.message}`) : error;
  });
}

/** What the file says of one registry; with keys of its own it is believed for those alone. */
export function trustIn({ policy, keys = [], registries = [], sigstore }: TrustFile, url: string) {
  const own = registries.find((registry) => sameRegistry(registry.url, url));
  return {
    policy: own?.policy ?? policy,
    keysWith: (served: readonly TrustedKey[]): readonly TrustedKey[] => [...keys, ...(own?.keys ?? served)],
    ...(sigstore && { sigstore }),
  };
}
