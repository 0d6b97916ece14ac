import { chooseIsolation, SandboxUnavailable } from '../isolation/choose.ts';
import { scratchFolder } from './sandbox.ts';

export const KINDS = ['unshare', 'bwrap'] as const;
export type Kind = (typeof KINDS)[number];

/** Why this machine cannot isolate so, if it cannot. */
export async function lacks(kind: Kind): Promise<string | undefined> {
  try {
    await chooseIsolation({ isolation: kind, workDir: await scratchFolder() });
    return undefined;
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error;
    return error.message;
  }
}
