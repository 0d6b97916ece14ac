/** Archives of packs that bring no code. */
import { archiveOf } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';

export const identity = {
  name: 'vendor.acme.kit',
  version: '1.0.0',
  engines: { openwop: '>=1.0.0 <2.0.0' },
} as const;

/** `files` are text as it is to stand in the archive. */
export async function declaredArchive(
  manifest: JsonObject,
  files: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const texts = { 'pack.json': JSON.stringify({ ...identity, ...manifest }), ...files };
  const entries = Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)] as const);
  return (await archiveOf(new Map(entries))).bytes;
}
