// A registry behind an address, laid out as the tree that the sweep goes over.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEgress, LOOPBACK_POLICY, PUBLIC_POLICY } from '@gantry/egress';
import { openHttpRegistry } from '@gantry/packs';

/** The caller removes the folder. */
export async function fetchTree(url) {
  const policy = url.startsWith('http:') ? LOOPBACK_POLICY : PUBLIC_POLICY;
  const registry = openHttpRegistry({ url, egress: createEgress({ policy }) });
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-sweep-registry-'));
  const put = async (file, content) => {
    if (content === undefined) return;
    const place = path.join(folder, file);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, content instanceof Uint8Array ? content : JSON.stringify(content));
  };
  try {
    await putKeys(registry, put);
    await put('security/advisories.json', await registry.document({ of: 'advisories' }));
    for (const name of await registry.list()) await putPack(registry, name, put);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

async function putKeys(registry, put) {
  const { signingKeys = [], ...discovery } = (await registry.document({ of: 'discovery' })) ?? {};
  const listed = signingKeys.map((key, index) => ({ ...key, publicKeyUrl: `/keys/${index}.pub` }));
  await put('.well-known/openwop-registry.json', { ...discovery, signingKeys: listed });
  for (const [index, { publicKeyUrl }] of signingKeys.entries())
    await put(`keys/${index}.pub`, Buffer.from((await registry.publicKey(publicKeyUrl)) ?? ''));
}

async function putPack(registry, name, put) {
  const { versions } = (await registry.index(name)) ?? { versions: [] };
  for (const { version } of versions) {
    const file = `v1/packs/${name}/-/${version}`;
    await put(`${file}.json`, await registry.document({ of: 'versionManifest', name, version }));
    await put(`${file}.tgz`, await registry.archive(name, version));
    await put(`${file}.sig`, await registry.signature(name, version));
  }
}
