/** A registry to copy from, made for the occasion, and one to copy it to. */
import type { TestContext } from 'node:test';
import type { CopyableRegistry } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import {
  type Documents,
  memoryRegistry,
  nodeManifest,
  type Published,
  publishedDocuments,
} from '../../../packs/src/registry/testing/memory-registry.ts';
import type { MirrorOptions, MirrorSummary } from '../mirror/mirror.ts';
import { type TestRegistry, type TestRegistryOptions, testRegistry } from './test-registry.ts';

export const SOURCE = 'https://packs.example';

export const pack = (name: string, version = '1.0.0', more: Omit<Published, 'manifest'> = {}): Published => ({
  manifest: nodeManifest(name, version),
  ...more,
});

/** Its documents can be changed afterwards, as somebody publishes there. */
export async function sourceDocuments(
  packs: readonly Published[],
  discovery: JsonObject = {},
): Promise<Documents> {
  const documents = await publishedDocuments(packs, discovery);
  const names = new Set(packs.map(({ manifest }) => String(manifest?.name)));
  const index = { packs: [...names].map((name) => ({ name })) };
  return documents.set('/v1/index.json', Buffer.from(JSON.stringify(index)));
}

export interface Mirror extends TestRegistry {
  copy(registry: CopyableRegistry, options?: Partial<MirrorOptions>): Promise<MirrorSummary>;
  /** What everybody reads at this address; undefined when there is nothing. */
  read(url: string): Promise<JsonObject | undefined>;
}

export async function emptyMirror(
  t: Pick<TestContext, 'after'>,
  options: TestRegistryOptions = {},
): Promise<Mirror> {
  const registry = await testRegistry(t, options);
  return {
    ...registry,
    copy: (source, more = {}) =>
      registry.server.registry.mirror({
        registry: source,
        source: source.url,
        signal: new AbortController().signal,
        progress: () => undefined,
        wait: async () => undefined,
        ...more,
      }),
    async read(url) {
      const answer = await registry.request({ url }, '');
      return answer.statusCode === 200 ? answer.json() : undefined;
    },
  };
}

export { memoryRegistry };
