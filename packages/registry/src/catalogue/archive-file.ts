import { type ArchiveLimits, eachFile } from '@gantry/packs';

/** The content of one file of an archive; undefined if there is no such file. */
export async function fileIn(
  archive: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
  path: string,
): Promise<Buffer | undefined> {
  let found: Buffer | undefined;
  await eachFile(archive, limits, (file) => {
    if (file.path === path) found = file.bytes;
  });
  return found;
}
