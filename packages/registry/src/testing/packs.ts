/** Packs made for the occasion. */
import { archiveOf, signEd25519 } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { type KeyPair, keyPair } from '../../../packs/src/testing/signed-pack.ts';

export { type KeyPair, keyPair };

export interface MadePack {
  readonly manifest?: JsonObject;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Signs pack.json, with the signature inside the archive. */
  readonly signedWith?: { readonly keyId: string; readonly privateKey: string };
}

export const nodeManifest = (change: JsonObject = {}): JsonObject => ({
  name: 'vendor.acme.tools',
  version: '1.0.0',
  description: 'Tools of Acme.',
  license: 'Apache-2.0',
  keywords: ['acme'],
  engines: { openwop: '>=1.0.0 <2.0.0' },
  runtime: { language: 'javascript', entry: './index.mjs', format: 'esm' },
  nodes: [
    {
      typeId: 'vendor.acme.tools.echo',
      version: '1.0.0',
      category: 'data',
      role: 'pure',
      inputSchemaRef: 'schemas/echo.input.json',
    },
  ],
  ...change,
});

const SIGNATURE = 'keys/pack.json.sig';

export async function madePack({ manifest = {}, files = {}, signedWith }: MadePack = {}): Promise<Buffer> {
  const signing = signedWith && {
    signing: { method: 'manual', publicKeyRef: signedWith.keyId, signatureRef: SIGNATURE },
  };
  const source = Buffer.from(JSON.stringify(nodeManifest({ ...manifest, ...signing })));
  const entries: Record<string, string | Uint8Array> = {
    'pack.json': source,
    'index.mjs': 'export const nodes = {};',
    'schemas/echo.input.json': '{"type":"object"}',
    ...files,
    ...(signedWith && { [SIGNATURE]: signEd25519(signedWith.privateKey, source) }),
  };
  const list = Object.entries(entries).map(([path, bytes]): [string, Buffer] => [path, Buffer.from(bytes)]);
  return (await archiveOf(new Map(list))).bytes;
}
