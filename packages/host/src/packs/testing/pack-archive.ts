/** Small packs, written in the test that uses them. */
import { archiveOf, readArchive, readManifest, surfaceAsks } from '@gantry/packs';
import type { Json, JsonObject } from '@gantry/protocol';

export interface TestNode {
  /** The body of `async (ctx) => { ... }`. */
  readonly body: string;
  readonly role?: string;
  readonly more?: JsonObject;
}

export interface TestPack {
  readonly name?: string;
  readonly version?: string;
  readonly requires?: readonly string[];
  readonly nodes: Readonly<Record<string, TestNode>>;
  readonly manifest?: JsonObject;
  readonly files?: Readonly<Record<string, Json>>;
}

export const PACK_NAME = 'vendor.acme.tools';

export async function packArchive(pack: TestPack): Promise<{ bytes: Buffer; integrity: string }> {
  const { name = PACK_NAME, version = '1.0.0', requires, nodes, manifest = {}, files = {} } = pack;
  const members = Object.entries(nodes).map(
    ([typeId, { body }]) => `${JSON.stringify(typeId)}: async (ctx) => { ${body} },`,
  );
  const declared = Object.entries(nodes).map(([typeId, { role = 'pure', more = {} }]) => ({
    typeId,
    version: '1.0.0',
    category: 'data',
    role,
    ...more,
  }));
  const json = {
    name,
    version,
    engines: { openwop: '>=1.0.0 <2.0.0' },
    nodes: declared,
    runtime: { language: 'javascript', entry: './index.mjs', format: 'esm', ...(requires && { requires }) },
    ...manifest,
  };
  const texts = { 'pack.json': json, ...files };
  const entries = Object.entries(texts).map(
    ([path, value]) => [path, Buffer.from(JSON.stringify(value))] as const,
  );
  const code = Buffer.from(`export const nodes = { ${members.join('\n')} };`);
  return archiveOf(new Map([...entries, ['index.mjs', code] as const]));
}

/** A query that also grants the surfaces that the code of an archive calls. */
export async function grantingSurfaces(bytes: Uint8Array, query = ''): Promise<string> {
  const { files, manifestBytes } = await readArchive(bytes);
  const reading = readManifest(manifestBytes);
  const asks = reading.kind === 'manifest' ? surfaceAsks(reading.manifest, files).asks : [];
  const parameters = new URLSearchParams(query);
  const granted = [...(parameters.get('grant')?.split(',') ?? []), ...asks];
  if (granted.length > 0) parameters.set('grant', granted.join(','));
  return parameters.size > 0 ? `?${parameters}` : '';
}
