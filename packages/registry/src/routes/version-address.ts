import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { PublishedVersion } from '../catalogue/catalogue.ts';
import type { StoreCatalogue, VersionAddress } from '../catalogue/store-catalogue.ts';
import { checkName, checkVersion } from '../publish/address.ts';

/** Open, so that a wrong name is told by its own code and not as a failed schema. */
export const VersionParams = Type.Object({ name: Type.String(), version: Type.String() });
export const NameParams = Type.Object({ name: Type.String() });

/** A version that is published; what cannot be one is told apart from what is not there. */
export async function publishedAt(
  catalogue: StoreCatalogue,
  { name, version }: VersionAddress,
): Promise<PublishedVersion> {
  checkName(name);
  checkVersion(version);
  const published = await catalogue.version(name, version);
  if (published === undefined)
    throw new OpenwopError('not_found', { message: `${name}@${version} is not published here.` });
  return published;
}
