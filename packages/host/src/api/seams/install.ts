/** Packs that seams bring along, or that the suite hands over as a manifest. */
import type { Caller } from '@gantry/http';
import { archiveOf } from '@gantry/packs';
import type { Installed, PackService } from '../../packs/pack-service.ts';

/** The suite installs other content under the same version, as development does. */
export async function install(
  service: Pick<PackService, 'install'>,
  { tenant, keyId: by }: Caller,
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<Installed> {
  const texts = Object.entries({ ...files, 'pack.json': JSON.stringify(manifest) });
  const { bytes: archive } = await archiveOf(new Map(texts.map(([path, text]) => [path, Buffer.from(text)])));
  return service.install({ tenant, archive, development: true, grant: [], by });
}
