/** A registry as files, with packs that the test publishes. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { readArchive, type WrittenArchive } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { temporaryFolder } from '../../testing/host-process.ts';
import { packArchive, type TestPack } from './pack-archive.ts';
import { acme, type Publisher, signedArchive } from './signed-archive.ts';

export interface RegistryFolder {
  readonly path: string;
  /** Signed by acme unless another publisher, or nobody, is named. */
  publish(pack: TestPack, options?: { by?: Publisher | null; served?: JsonObject }): Promise<string>;
  /** As it is. */
  publishArchive(archive: Pick<WrittenArchive, 'bytes' | 'integrity'>, served?: JsonObject): Promise<string>;
  advise(advisories: readonly JsonObject[]): Promise<void>;
  /** Nobody can ask it any more. */
  close(): Promise<void>;
}

const json = (value: unknown): string => JSON.stringify(value);

export async function registryFolder(
  t: TestContext,
  { publishers = [acme] }: { publishers?: readonly Publisher[] } = {},
): Promise<RegistryFolder> {
  const { path, remove } = await temporaryFolder();
  t.after(remove);
  for (const folder of ['.well-known', 'keys', 'security', 'v1/packs'])
    await mkdir(`${path}/${folder}`, { recursive: true });
  const signingKeys = publishers.map(({ key: { publicKey: _, ...key } }) => ({
    ...key,
    publicKeyUrl: `/keys/${key.keyId}.pub`,
  }));
  await writeFile(`${path}/.well-known/openwop-registry.json`, json({ registryVersion: '1', signingKeys }));
  for (const { key } of publishers) await writeFile(`${path}/keys/${key.keyId}.pub`, key.publicKey);
  const publishArchive: RegistryFolder['publishArchive'] = async ({ bytes, integrity }, served = {}) => {
    const { manifestBytes, files } = await readArchive(bytes);
    const manifest = JSON.parse(Buffer.from(manifestBytes).toString('utf8'));
    const folder = `${path}/v1/packs/${manifest.name}`;
    await mkdir(`${folder}/-`, { recursive: true });
    const at = `${folder}/-/${manifest.version}`;
    const publishedAt = '2026-05-01T00:00:00Z';
    await writeFile(`${at}.json`, json({ ...manifest, integrity, publishedAt, ...served }));
    await writeFile(`${at}.tgz`, bytes);
    const signature = files.get('keys/pack.json.sig');
    if (signature) await writeFile(`${at}.sig`, signature);
    await writeFile(`${folder}/index.json`, json(await indexOf(folder, manifest.name)));
    return integrity;
  };
  return {
    path,
    publishArchive,
    publish: async (pack, { by = acme, served } = {}) =>
      publishArchive(await (by ? signedArchive(pack, by) : packArchive(pack)), served),
    advise: (advisories) => writeFile(`${path}/security/advisories.json`, json({ advisories })),
    close: () => rm(path, { recursive: true }),
  };
}

async function indexOf(folder: string, name: string): Promise<JsonObject> {
  const files = (await readdir(`${folder}/-`)).filter((file) => file.endsWith('.json'));
  const served = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(`${folder}/-/${file}`, 'utf8'))),
  );
  const versions = served.map(({ version, integrity, publishedAt, yanked = false, deprecated = false }) => ({
    version,
    integrity,
    publishedAt,
    yanked,
    deprecated,
  }));
  return { name, versions };
}
