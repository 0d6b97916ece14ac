import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { judgeKeychain, signEd25519 } from '@gantry/packs';
import fc from 'fast-check';
import { pino } from 'pino';
import { type Acme, acmeRegistry, claim } from '../testing/acme.ts';
import { type KeyPair, keyPair, madePack } from '../testing/packs.ts';
import { apiKey, publish, testRegistry } from '../testing/test-registry.ts';
import { overlap } from './claim.ts';

const KEYCHAIN = '/v1/packs/vendor.acme.tools/-/keychain';
const CLAIMS = '/v1/host/gantry/registry/claims';
const HOUR = 3_600_000;
const START = Date.parse('2026-06-01T00:00:00Z');

const spki = ({ publicKey }: KeyPair): string =>
  createPublicKey(publicKey).export({ type: 'spki', format: 'der' }).toString('base64');

const signingKey = (keyId: string) => ({ keyId, publicKey: spki(keyPair()) });

interface Rotation {
  readonly kid?: string;
  readonly validFrom?: string;
  readonly next: KeyPair;
  readonly provedBy: KeyPair;
}

function rotation({ kid = 'acme-2', validFrom = '2026-06-01T00:00:00Z', next, provedBy }: Rotation) {
  const publicKey = spki(next);
  const proof = signEd25519(provedBy.privateKey, Buffer.from(`${kid}${publicKey}${validFrom}`));
  return { kid, algorithm: 'ed25519', publicKey, validFrom, rotationProof: proof.toString('base64') };
}

const rotate = (acme: Acme, payload: object, key = acme.apiKey) =>
  acme.request({ method: 'POST', url: `${KEYCHAIN}/rotate`, payload }, key);

describe('rotation', () => {
  test('goes on with a new key that the old one signed; what was published stays good', async (t) => {
    let now = START;
    const acme = await acmeRegistry(t, { now: () => now });
    await acme.publish();
    const next = keyPair();
    const rotated = await rotate(acme, rotation({ next, provedBy: acme.keys }));
    assert.equal(rotated.statusCode, 200, rotated.body);
    now += HOUR;

    const old = await acme.publish({ manifest: { version: '1.1.0' } });
    assert.equal(old.json().error, 'signature_invalid');
    const signedWith = { keyId: 'acme-2', privateKey: next.privateKey };
    assert.equal((await acme.publish({ manifest: { version: '1.1.0' }, signedWith })).statusCode, 201);
    assert.equal((await acme.publish()).statusCode, 200, 'a retry of what the old key signed');

    const { namespace, keys } = (await acme.request({ url: KEYCHAIN }, '')).json();
    assert.equal(namespace, 'vendor.acme.*');
    assert.deepEqual(judgeKeychain(keys, ({ kid }) => kid === 'acme-1').valid, true);
    assert.equal(keys[0].rotatedTo, 'acme-2');
    assert.equal(keys[1].rotatedFrom, 'acme-1');
    const pem = await acme.request({ url: '/keys/acme-2.pub' }, '');
    assert.equal(pem.body, next.publicKey);
    assert.equal((await acme.request({ url: '/keys/acme-9.pub' }, '')).statusCode, 404);
  });

  test('is refused without the proof of the last key', async (t) => {
    const acme = await acmeRegistry(t, { now: () => START });
    const [next, stranger] = [keyPair(), keyPair()];
    const good = rotation({ next, provedBy: acme.keys });
    for (const payload of [
      rotation({ next, provedBy: stranger }),
      rotation({ next, provedBy: next }),
      { ...good, validFrom: '2026-06-02T00:00:00Z' },
      { ...good, publicKey: spki(stranger) },
      { ...good, kid: 'acme-3' },
    ])
      assert.equal((await rotate(acme, payload)).json().error, 'signature_invalid');
    assert.equal((await acme.request({ url: KEYCHAIN }, '')).json().keys.length, 1);
    assert.equal((await rotate(acme, good)).statusCode, 200);
    assert.equal(
      (await rotate(acme, rotation({ kid: 'acme-3', next, provedBy: acme.keys }))).statusCode,
      400,
    );
  });

  test('is for those who publish there, and for new names of keys', async (t) => {
    const acme = await acmeRegistry(t, { now: () => START });
    const good = rotation({ next: keyPair(), provedBy: acme.keys });
    const rival = await apiKey(acme, 'rival');
    assert.equal((await rotate(acme, good, rival)).json().error, 'forbidden');
    const signingKey = { keyId: 'acme-2', publicKey: spki(keyPair()) };
    await claim(acme, { namespace: 'vendor.rival.*', signingKey }, rival);
    assert.equal((await rotate(acme, good)).json().error, 'conflict', 'the name of the key is taken');
    const before = rotation({
      next: keyPair(),
      provedBy: acme.keys,
      kid: 'a',
      validFrom: '2019-01-01T00:00:00Z',
    });
    assert.equal((await rotate(acme, before)).json().error, 'validation_error');
  });

  test('of two rotations at once, one wins', async (t) => {
    const acme = await acmeRegistry(t, { now: () => START });
    const answers = await Promise.all(
      ['acme-2', 'acme-3'].map((kid) =>
        rotate(acme, rotation({ kid, next: keyPair(), provedBy: acme.keys })),
      ),
    );
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 400]);
  });
});

describe('claims', () => {
  test('are first come, never overlap, and change nothing when repeated', async (t) => {
    const registry = await testRegistry(t);
    const [acme, rival] = [await apiKey(registry, 'acme'), await apiKey(registry, 'rival')];
    const status = async (payload: object, key: string): Promise<number> =>
      (await claim(registry, payload, key)).statusCode;
    assert.equal(await status({ namespace: 'vendor.acme.*' }, acme), 201);
    assert.equal(await status({ namespace: 'vendor.acme.*' }, acme), 200);
    assert.equal(await status({ namespace: 'vendor.acme.*' }, rival), 409);
    assert.equal(await status({ namespace: 'vendor.acme.tools' }, rival), 409);
    assert.equal(await status({ namespace: 'vendor.acme.tools.*' }, rival), 409);
    assert.equal(await status({ namespace: 'vendor.acme-two.*' }, rival), 201);
    const own = await registry.request({ url: '/v1/host/gantry/registry/claims' }, rival);
    assert.deepEqual(
      own.json().claims.map(({ namespace }: { namespace: string }) => namespace),
      ['vendor.acme-two.*'],
    );
  });

  test('of core names and for others are the operator’s', async (t) => {
    const registry = await testRegistry(t);
    const acme = await apiKey(registry, 'acme');
    const core = { namespace: 'core.acme.*' };
    const foreign = { namespace: 'vendor.acme.*', owner: 'rival' };
    assert.equal((await claim(registry, core, acme)).json().error, 'forbidden');
    assert.equal((await claim(registry, foreign, acme)).json().error, 'forbidden');
    assert.equal((await claim(registry, core)).statusCode, 201);
    assert.equal((await claim(registry, { ...foreign, owner: 'acme' })).json().owner, 'acme');
  });

  test('name one organisation at least, a scope that is taken, and a real key', async (t) => {
    const registry = await testRegistry(t);
    const code = async (payload: object): Promise<string> => (await claim(registry, payload)).json().error;
    assert.equal(await code({ namespace: 'vendor.*' }), 'invalid_pack_name');
    assert.equal(await code({ namespace: '*' }), 'invalid_pack_name');
    assert.equal(await code({ namespace: 'private.acme.*' }), 'invalid_pack_scope');
    const refused = await claim(registry, { namespace: 'private.acme.*' });
    assert.match(refused.json().message, /accepts core, vendor, community\. .*GANTRY_REGISTRY_PRIVATE=1/);
    const signingKey = { keyId: 'k', publicKey: 'bm90IGEga2V5' };
    assert.equal(await code({ namespace: 'vendor.acme.*', signingKey }), 'validation_error');
    assert.equal(
      await code({ namespace: 'vendor.acme.*', signingKey: { keyId: 'k.pem', publicKey: spki(keyPair()) } }),
      'validation_error',
    );
  });

  test('let other tenants publish, and only the operator start a keychain anew', async (t) => {
    const acme = await acmeRegistry(t);
    const partner = await apiKey(acme, 'partner');
    assert.equal((await acme.publish({}, { key: partner })).json().error, 'forbidden');
    await claim(acme, { namespace: 'vendor.acme.*', publishers: ['partner'] }, acme.apiKey);
    assert.equal((await acme.publish({}, { key: partner })).statusCode, 201);

    const signingKey = { keyId: 'acme-new', publicKey: spki(keyPair()) };
    const again = { namespace: 'vendor.acme.*', signingKey };
    assert.equal((await claim(acme, again, acme.apiKey)).json().error, 'conflict');
    assert.equal((await claim(acme, { ...again, owner: 'acme' })).statusCode, 200);
    const { keys } = (await acme.request({ url: KEYCHAIN }, '')).json();
    assert.equal(keys.length, 2);
    assert.ok(Date.parse(keys[0].validUntil) <= Date.now(), 'the key before it has ended');
  });

  test('the first publish reserves the whole vendor for its account', async (t) => {
    const registry = await testRegistry(t, { settings: { acceptsUnsigned: true } });
    const [acme, rival] = [await apiKey(registry, 'acme'), await apiKey(registry, 'rival')];
    const put = async (name: string, key: string) =>
      (await publish(registry, { name, bytes: await madePack({ manifest: { name } }), key })).statusCode;
    assert.equal(await put('vendor.acme.tools', acme), 201);
    assert.equal(await put('vendor.acme.more', rival), 403);
    assert.equal((await claim(registry, { namespace: 'vendor.acme.more' }, rival)).statusCode, 409);
    assert.equal(await put('vendor.acme.more', acme), 201);
    const [kept] = (await registry.request({ url: CLAIMS }, acme)).json().claims;
    assert.deepEqual([kept.namespace, kept.owner], ['vendor.acme.*', 'acme']);
    assert.equal(await put('community.acme.tools', acme), 403, 'other scopes are claimed first');
  });

  test('of two first publishes at once, one has the vendor', async (t) => {
    const registry = await testRegistry(t, { settings: { acceptsUnsigned: true } });
    const keys = [await apiKey(registry, 'acme'), await apiKey(registry, 'rival')];
    const names = ['vendor.new.one', 'vendor.new.two'];
    const bytes = await Promise.all(names.map((name) => madePack({ manifest: { name } })));
    const answers = await Promise.all(
      names.map((name, i) => publish(registry, { name, bytes: bytes[i]!, key: keys[i]! })),
    );
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 403]);
  });

  test('an operator gives them to others, widens and drops them', async (t) => {
    const told: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: (line) => void told.push(JSON.parse(line)) });
    const registry = await testRegistry(t, { settings: { acceptsUnsigned: true }, log });
    const acme = await apiKey(registry, 'acme');
    const drop = (namespace: string, key?: string) =>
      registry.request({ method: 'DELETE', url: `${CLAIMS}/${namespace}` }, key);
    await claim(registry, { namespace: 'vendor.acme.tools', signingKey: signingKey('one') }, acme);
    await claim(registry, { namespace: 'vendor.acme.more', signingKey: signingKey('two') }, acme);
    assert.equal((await claim(registry, { namespace: 'vendor.acme.*' }, acme)).statusCode, 409);
    const widened = await claim(registry, { namespace: 'vendor.acme.*', owner: 'acme' });
    assert.deepEqual(
      widened.json().keys.map(({ kid }: { kid: string }) => kid),
      ['one', 'two'],
    );
    const { claims } = (await registry.request({ url: CLAIMS })).json();
    assert.equal(claims.length, 1);
    const moved = await claim(registry, { namespace: 'vendor.acme.*', owner: 'rival' });
    assert.deepEqual([moved.statusCode, moved.json().owner], [200, 'rival']);
    assert.equal((await drop('vendor.acme.*', acme)).statusCode, 403);
    assert.equal((await drop('vendor.acme.*')).statusCode, 200);
    assert.equal((await drop('vendor.acme.*')).statusCode, 404);
    assert.equal((await publish(registry, { bytes: await madePack(), key: acme })).statusCode, 201);
    assert.equal((await drop('vendor.acme.*')).json().error, 'conflict', 'something is published there');
    const operator = { name: 'vendor.acme.*', by: 'key_environment' };
    for (const change of [
      { type: 'claimed', owner: 'acme', ...operator },
      { type: 'claimed', owner: 'rival', ...operator },
      { type: 'claim-dropped', ...operator },
    ])
      assert.ok(
        told.some((line) => isDeepStrictEqual({ ...line, ...change }, line)),
        JSON.stringify(change),
      );
  });

  test('a claim under which test packs are published is not dropped either', async (t) => {
    const registry = await testRegistry(t, { settings: { acceptsUnsigned: true, testSeams: true } });
    const acme = await apiKey(registry, 'acme');
    await claim(registry, { namespace: 'vendor.acme.*' }, acme);
    const drop = () => registry.request({ method: 'DELETE', url: `${CLAIMS}/vendor.acme.*` });
    const published = await publish(registry, {
      bytes: await madePack(),
      key: acme,
      namespace: 'packs-test',
    });
    assert.equal(published.statusCode, 201, published.body);
    assert.equal((await drop()).json().error, 'conflict');
    await registry.request({ method: 'POST', url: '/v1/packs-test/-/reset' });
    assert.equal((await drop()).statusCode, 200);
  });

  test('two namespaces overlap exactly when some name is in both', () => {
    const word = fc.constantFrom('a', 'b', 'ab');
    const name = fc.array(word, { minLength: 2, maxLength: 4 }).map((words) => `v.${words.join('.')}`);
    const pattern = fc.tuple(name, fc.boolean()).map(([text, all]) => (all ? `${text}.*` : text));
    const has = (namespace: string, text: string): boolean =>
      namespace.endsWith('.*') ? text.startsWith(namespace.slice(0, -1)) : namespace === text;
    fc.assert(
      fc.property(pattern, pattern, (left, right) => {
        const witnesses = [left, right].map((namespace) => namespace.replace(/\*$/, 'x'));
        const expected = witnesses.some((text) => has(left, text) && has(right, text));
        assert.equal(overlap(left, right), expected);
      }),
    );
  });
});
