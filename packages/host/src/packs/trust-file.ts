/** The trust file of the operator, and the defaults without one. */
import { readTrustFile, TrustFileError } from '@gantry/packs';
import { type Settings, SettingsError } from '../settings.ts';
import { type HostTrust, WITHOUT_FILE } from './trust.ts';

/** Loads the trust of the settings. */
export async function loadTrust(
  settings: Pick<Settings, 'trustFile' | 'registries' | 'packSignatures'>,
): Promise<HostTrust> {
  const { trustFile: path, registries, packSignatures: demands } = settings;
  if (path === undefined) return { ...WITHOUT_FILE, demands };
  const file = await readTrustFile(path, registries).catch((error: unknown) => {
    throw error instanceof TrustFileError ? new SettingsError(`GANTRY_TRUST: ${error.message}`) : error;
  });
  const { policy, keys = [], registries: trusted = [], sigstore, grants = {} } = file;
  return { policy, registryPolicy: policy, keys, registries: trusted, demands, grants, sigstore };
}
