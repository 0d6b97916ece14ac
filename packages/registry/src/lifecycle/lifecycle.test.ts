import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { type Acme, acmeRegistry } from '../testing/acme.ts';
import { apiKey } from '../testing/test-registry.ts';

const VERSION = '/v1/packs/vendor.acme.tools/-/1.0.0';
const HOUR = 3_600_000;
const START = Date.parse('2026-06-01T00:00:00Z');

interface Aged extends Acme {
  pass(ms: number): void;
  /** As Acme, about version 1.0.0. */
  act(method: 'POST' | 'DELETE', verb: string, payload?: object): ReturnType<Acme['request']>;
  latest(): Promise<string>;
}

const metadata = async (acme: Acme) => (await acme.request({ url: '/v1/packs/vendor.acme.tools' })).json();

async function aged(t: Parameters<typeof acmeRegistry>[0]): Promise<Aged> {
  let now = START;
  const acme = await acmeRegistry(t, { now: () => now });
  const first = await acme.publish();
  assert.equal(first.statusCode, 201, first.body);
  return {
    ...acme,
    pass: (ms) => {
      now += ms;
    },
    act: (method, verb, payload) =>
      acme.request(
        { method, url: `${VERSION}${verb}`, ...(payload && { payload }) } as InjectOptions,
        acme.apiKey,
      ),
    latest: async () => (await metadata(acme))['dist-tags'].latest,
  };
}

describe('deprecation', () => {
  test('is told with its reason, repeated without effect, corrected and taken back', async (t) => {
    const acme = await aged(t);
    const body = { reason: 'Old.', supersededBy: 'vendor.acme.tools@2.0.0' };
    const first = await acme.act('POST', '/deprecate', body);
    assert.equal(first.statusCode, 200, first.body);
    const { deprecation } = first.json();
    assert.deepEqual(
      { ...deprecation, deprecatedBy: '' },
      { deprecated: true, ...body, deprecatedAt: '2026-06-01T00:00:00.000Z', deprecatedBy: '' },
    );
    const { revision } = acme.server.registry.catalogue;
    acme.pass(HOUR);
    assert.equal((await acme.act('POST', '/deprecate', body)).body, first.body);
    assert.equal(acme.server.registry.catalogue.revision, revision, 'nothing was written');

    const corrected = await acme.act('POST', '/deprecate', { reason: 'Older.' });
    assert.equal(corrected.json().deprecation.reason, 'Older.');
    assert.equal(corrected.json().deprecation.deprecatedAt, deprecation.deprecatedAt);
    for (const _ of [1, 2]) {
      const undone = await acme.act('DELETE', '/deprecate');
      assert.equal(undone.json().deprecated, false);
      assert.equal(undone.json().deprecation, undefined);
    }
  });

  test('leaves latest to a version in good standing', async (t) => {
    const acme = await aged(t);
    await acme.publish({ manifest: { version: '1.1.0' } });
    const url = '/v1/packs/vendor.acme.tools/-/1.1.0/deprecate';
    await acme.request({ method: 'POST', url, payload: { reason: 'Broken.' } }, acme.apiKey);
    assert.equal(await acme.latest(), '1.0.0');
  });
});

describe('yank', () => {
  test('needs its own scopes', async (t) => {
    const acme = await aged(t);
    const publisher = await apiKey(acme, 'acme', ['packs:publish']);
    const yanker = await apiKey(acme, 'acme', ['packs:publish', 'packs:yank']);
    const yank = { method: 'POST', url: `${VERSION}/yank`, payload: { reason: 'Leaks.' } } as const;
    const refused = await acme.request(yank, publisher);
    assert.equal(refused.statusCode, 403);
    assert.equal(refused.json().details.scopeRequired, 'packs:yank');
    assert.equal((await acme.request(yank, yanker)).statusCode, 200);
    const revert = { method: 'DELETE', url: `${VERSION}/yank` } as const;
    assert.equal((await acme.request(revert, yanker)).json().details.scopeRequired, 'packs:yank-revert');
  });

  test('keeps its history when it is taken back', async (t) => {
    const acme = await aged(t);
    const body = { reason: 'Leaks.', advisoryUrl: 'https://acme.example/1' };
    const first = await acme.act('POST', '/yank', body);
    assert.equal(first.json().yanked.reason, 'Leaks.');
    assert.equal((await acme.act('POST', '/yank', body)).body, first.body);
    assert.equal((await metadata(acme)).versions['1.0.0'].yanked.reason, 'Leaks.');
    const again = await acme.act('POST', '/yank', { reason: 'Other.' });
    assert.equal(again.body, first.body, 'the first reason stays');
    acme.pass(HOUR);
    for (const _ of [1, 2]) {
      const reverted = (await acme.act('DELETE', '/yank')).json();
      assert.equal(reverted.yanked, false);
      assert.equal(reverted.revertedYanks.length, 1);
      assert.equal(reverted.revertedYanks[0].revertedAt, '2026-06-01T01:00:00.000Z');
      assert.equal(reverted.revertedYanks[0].yankedAt, '2026-06-01T00:00:00.000Z');
    }
  });

  test('takes a version out of latest', async (t) => {
    const acme = await aged(t);
    await acme.publish({ manifest: { version: '1.1.0' } });
    const url = '/v1/packs/vendor.acme.tools/-/1.1.0/yank';
    await acme.request({ method: 'POST', url, payload: { reason: 'Leaks.' } }, acme.apiKey);
    assert.equal(await acme.latest(), '1.0.0');
    assert.equal(acme.server.registry.catalogue.summary('vendor.acme.tools')?.latest, '1.0.0');
  });
});

describe('unpublish', () => {
  test('within 72 hours removes the version; its name stays taken by its bytes', async (t) => {
    const acme = await aged(t);
    acme.pass(72 * HOUR);
    for (const _ of [1, 2]) assert.equal((await acme.act('DELETE', '')).statusCode, 200);
    assert.equal((await acme.request({ url: `${VERSION}.tgz` })).statusCode, 404);
    assert.equal((await acme.request({ url: '/v1/packs/vendor.acme.tools' })).statusCode, 404);
    assert.deepEqual(acme.server.registry.catalogue.summaries(), []);

    const other = await acme.publish({ files: { 'README.md': 'Other.' } });
    assert.equal(other.json().error, 'conflict');
    assert.equal((await acme.publish()).statusCode, 201);
    assert.equal((await acme.request({ url: `${VERSION}.tgz` })).statusCode, 200);
  });

  test('after 72 hours is refused, also in the test namespace', async (t) => {
    const acme = await aged(t);
    await acme.publish({}, { namespace: 'packs-test' });
    acme.pass(72 * HOUR + 1);
    for (const namespace of ['packs', 'packs-test']) {
      const url = `/v1/${namespace}/vendor.acme.tools/-/1.0.0`;
      const refused = await acme.request({ method: 'DELETE', url }, acme.apiKey);
      assert.equal(refused.statusCode, 400);
      assert.equal(refused.json().error, 'unpublish_window_expired');
    }
  });

  test('leaves its archive to the sweep', async (t) => {
    const acme = await aged(t);
    await acme.publish({ manifest: { version: '1.1.0' } });
    await acme.act('DELETE', '');
    assert.equal(await acme.server.registry.sweep(), 0, 'too young');
    acme.pass(2 * HOUR);
    assert.equal(await acme.server.registry.sweep(), 1);
    assert.equal((await acme.request({ url: '/v1/packs/vendor.acme.tools/-/1.1.0.tgz' })).statusCode, 200);
    assert.equal((await acme.publish()).statusCode, 201);
    assert.equal((await acme.request({ url: `${VERSION}.tgz` })).statusCode, 200);
  });
});

test('nobody but its publishers and operators changes a pack', async (t) => {
  const acme = await aged(t);
  const rival = await apiKey(acme, 'rival', ['packs:publish', 'packs:yank', 'packs:yank-revert']);
  const reason = { reason: 'Mine now.' };
  for (const [method, verb, payload] of [
    ['POST', '/deprecate', reason],
    ['DELETE', '/deprecate', undefined],
    ['POST', '/yank', reason],
    ['DELETE', '/yank', undefined],
    ['DELETE', '', undefined],
  ] as const) {
    const request = { method, url: `${VERSION}${verb}`, ...(payload && { payload }) };
    assert.equal((await acme.request(request, rival)).json().error, 'forbidden', `${method} ${verb}`);
  }
  const missing = await acme.request({ method: 'DELETE', url: '/v1/packs/vendor.acme.tools/-/9.0.0' });
  assert.equal(missing.json().error, 'not_found');
});
