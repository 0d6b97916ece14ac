/** A registry in which Acme has claimed its namespace. */
import type { TestContext } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { type KeyPair, keyPair, type MadePack, madePack } from './packs.ts';
import {
  apiKey,
  type Publication,
  publish,
  type TestRegistry,
  type TestRegistryOptions,
  testRegistry,
} from './test-registry.ts';

export interface Acme extends TestRegistry {
  readonly keys: KeyPair;
  /** Secret of an API key that may publish, deprecate and yank. */
  readonly apiKey: string;
  /** Publishes a version that Acme's key signed, unless told otherwise. */
  publish(pack?: MadePack, publication?: Omit<Publication, 'bytes'>): Promise<LightMyRequestResponse>;
}

const ACME_SCOPES = ['packs:publish', 'packs:yank', 'packs:yank-revert'];

export async function acmeRegistry(
  t: Pick<TestContext, 'after'>,
  options: TestRegistryOptions = {},
): Promise<Acme> {
  const registry = await testRegistry(t, options);
  const keys = keyPair();
  const key = await apiKey(registry, 'acme', ACME_SCOPES);
  const signingKey = { keyId: 'acme-1', publicKey: keys.publicKey, validFrom: '2020-01-01T00:00:00Z' };
  const claimed = await claim(registry, { namespace: 'vendor.acme.*', signingKey }, key);
  if (claimed.statusCode !== 201) throw new Error(claimed.body);
  return {
    ...registry,
    keys,
    apiKey: key,
    async publish(pack = {}, publication = {}) {
      const signed = { signedWith: { keyId: 'acme-1', privateKey: keys.privateKey }, ...pack };
      const { name, version } = { name: 'vendor.acme.tools', version: '1.0.0', ...pack.manifest };
      const address = { name: String(name), version: String(version) };
      return publish(registry, { ...address, key, ...publication, bytes: await madePack(signed) });
    },
  };
}

export const claim = (
  { request }: Pick<TestRegistry, 'request'>,
  payload: object,
  key?: string,
): Promise<LightMyRequestResponse> =>
  request({ method: 'POST', url: '/v1/host/gantry/registry/claims', payload }, key);
