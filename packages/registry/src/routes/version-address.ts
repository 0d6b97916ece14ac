import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';
import type { VersionAddress } from '../catalogue/store-catalogue.ts';
import { checkName, checkVersion } from '../publish/address.ts';

/** Unrestricted: a wrong name or version has an error code of its own. */
export const VersionParams = Type.Object({ name: Type.String(), version: Type.String() });
export const NameParams = Type.Object({ name: Type.String() });

/** The published version. An invalid name or version and an absent version are different errors. */
export async function publishedAt(
  catalogue: Pick<Catalogue, 'version'>,
  { name, version }: VersionAddress,
): Promise<PublishedVersion> {
  checkName(name);
  checkVersion(version);
  const published = await catalogue.version(name, version);
  if (published === undefined)
    throw new OpenwopError('not_found', { message: `${name}@${version} is not published.` });
  return published;
}
