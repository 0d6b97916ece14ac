/** Installs packs of seams, or packs that the suite sends as a manifest. */
import type { Caller } from '@gantry/http';
import { archiveOf } from '@gantry/packs';
import type { Installed, PackService } from '../../packs/pack-service.ts';

/** The suite installs different content under the same version, as with development packs. */
export async function install(
  service: Pick<PackService, 'install'>,
  { tenant, principal: by }: Caller,
  manifest: object,
  files: Readonly<Record<string, string>> = {},
  isOwnFolder = false,
): Promise<Installed> {
  const texts = Object.entries({ ...files, 'pack.json': JSON.stringify(manifest) });
  const { bytes: archive } = await archiveOf(new Map(texts.map(([path, text]) => [path, Buffer.from(text)])));
  return service.install({ tenant, archive, development: true, isOwnFolder, grant: [], by });
}
