/** What a host does: our own client reads the registry, and trusts it only as far as its proofs go. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { createEgress } from '@gantry/egress';
import { integrityOf, openHttpRegistry, type Registry, readArchive } from '@gantry/packs';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import { type Acme, acmeRegistry } from '../testing/acme.ts';

const NAME = 'vendor.acme.tools';

async function clientOf(acme: Acme): Promise<Registry> {
  const url = await acme.server.app.listen({ host: '127.0.0.1', port: 0 });
  return openHttpRegistry({ url, egress: createEgress({ policy: LOOPBACK_POLICY }) });
}

test('a client finds versions, archives, signatures and keys', async (t) => {
  const acme = await acmeRegistry(t, { settings: { publicUrl: undefined } });
  await acme.publish();
  await acme.publish({ manifest: { version: '1.1.0' } });
  await acme.request(
    { method: 'POST', url: `/v1/packs/${NAME}/-/1.1.0/yank`, payload: { reason: 'Leaks.' } },
    acme.apiKey,
  );
  const client = await clientOf(acme);
  const index = await client.index(NAME);
  assert.equal(index?.latest, '1.0.0');
  const yanked = index?.versions.find(({ version }) => version === '1.1.0');
  assert.equal(yanked?.yanked?.reason, 'Leaks.');
  assert.equal(await client.index('vendor.acme.unknown'), undefined);

  const manifest = await client.manifest(NAME, '1.0.0');
  const source = await client.archive(NAME, '1.0.0');
  assert.ok(source);
  const bytes = source instanceof Uint8Array ? source : await buffer(source);
  assert.equal(integrityOf(bytes), manifest?.record.integrity);
  assert.ok((await readArchive(bytes)).files.has('index.mjs'));
  assert.equal((await client.signature(NAME, '1.0.0'))?.length, 64);
  assert.equal(await client.signature(NAME, '1.1.0'), undefined);
  const [key] = await client.keys(NAME);
  assert.equal(key?.keyId, 'acme-1');
  assert.deepEqual(key?.permittedNamespaces, ['vendor.acme.*']);
});
