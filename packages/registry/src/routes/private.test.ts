/** Private packs, through every route that the registry has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { type Acme, acmeRegistry, claim } from '../testing/acme.ts';
import { madePack, nodeManifest } from '../testing/packs.ts';
import { ADMIN_KEY, apiKey, publish } from '../testing/test-registry.ts';

const NAME = 'private.acme.vault';
/** As private, and nothing is published there. */
const ABSENT = 'private.none.vault';
const KEY_ID = 'acme-hush-1';
/** In whatever shows the pack. */
const TRACE = /hush|acme\.vault/i;
const NODES = [{ ...(nodeManifest().nodes as object[])[0], typeId: `${NAME}.echo` }];
const AGENTS = [{ agentId: `${NAME}.agent`, persona: 'hush', modelClass: 'writing', systemPrompt: 'hush' }];

let acme: Acme;
const keys = { owner: '', partner: '', stranger: '', test: '', operator: ADMIN_KEY, nobody: '' };
const SCOPES = ['packs:publish', 'packs:yank', 'packs:yank-revert', 'keys:manage'];
const ends: (() => unknown)[] = [];

before(async () => {
  acme = await acmeRegistry(
    { after: (end) => void ends.push(end as () => unknown) },
    { settings: { acceptsPrivate: true, acceptsUnsigned: true } },
  );
  keys.owner = acme.apiKey;
  keys.partner = await apiKey(acme, 'partner', ['packs:read']);
  keys.stranger = await apiKey(acme, 'stranger', SCOPES);
  keys.test = await apiKey(acme, 'acme', ['packs:publish'], { test: true });
  await isOk(acme.publish());
  const signingKey = { keyId: KEY_ID, publicKey: acme.keys.publicKey, validFrom: '2020-01-01T00:00:00Z' };
  const claimed = { namespace: 'private.acme.*', publishers: ['partner'], signingKey };
  await isOk(claim(acme, claimed, keys.owner));
  for (const namespace of ['packs', 'packs-test'] as const)
    await isOk(publish(acme, { name: NAME, namespace, key: keys.owner, bytes: await vault('1.0.0') }));
  await isOk(publish(acme, { name: NAME, version: '1.1.0', key: keys.owner, bytes: await vault('1.1.0') }));
  await isOk(post(`/v1/packs/${NAME}/-/1.1.0/yank`, { reason: 'hush' }, keys.owner));
  await isOk(advise('OPENWOP-2026-0001', [NAME]));
});
after(async () => {
  for (const end of ends) await end();
});

const vault = (version: string): Promise<Buffer> =>
  madePack({
    manifest: { name: NAME, version, description: 'Hush.', keywords: ['hush'], nodes: NODES, agents: AGENTS },
    signedWith: { keyId: KEY_ID, privateKey: acme.keys.privateKey },
  });

const post = (url: string, payload: object, key: string) =>
  acme.request({ method: 'POST', url, payload }, key);

const advise = (id: string, names: readonly string[]): Promise<LightMyRequestResponse> =>
  acme.request({
    method: 'PUT',
    url: `/v1/host/gantry/registry/advisories/${id}`,
    payload: {
      id,
      publishedAt: '2026-06-01',
      severity: 'high',
      summary: 'Leaks',
      affected: names.map((packName) => ({ packName, versions: '>=1.1.0' })),
    },
  });

async function isOk(answering: Promise<LightMyRequestResponse>): Promise<void> {
  const { statusCode, body } = await answering;
  assert.ok(statusCode < 300, `${statusCode} ${body}`);
}

/** For each parameter of a path: how it names the pack, and the same for one that is absent. */
const PARAMS: Readonly<Record<string, readonly [present: string, absent: string]>> = {
  name: [NAME, ABSENT],
  version: ['1.0.0', '1.0.0'],
  typeId: [`${NAME}.echo`, `${ABSENT}.echo`],
  keyId: [KEY_ID, 'none-1'],
  schema: ['echo.input.json', 'echo.input.json'],
  namespace: ['private.acme.*', 'private.none.*'],
  advisoryId: ['OPENWOP-2026-0001', 'OPENWOP-2026-0009'],
  file: ['icon.svg', 'icon.svg'],
};

interface Walked {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly absentUrl: string;
}

/** Every route as registered: a new one is walked too, and fails here until its parameters are known. */
const walk = (): Walked[] =>
  acme.server.routes.all.map(({ method, path }) => {
    const filled = (which: 0 | 1): string =>
      path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const values = PARAMS[name];
        assert.ok(values, `say in PARAMS what {${name}} of ${path} is`);
        return values[which];
      });
    const query = path === '/' || path.endsWith('/search') ? '?q=echo' : '';
    return { method, path, url: filled(0) + query, absentUrl: filled(1) + query };
  });

const isRead = ({ method }: Walked): boolean => method === 'GET' || method === 'HEAD';

/** Everything that a client gets, without the names that it sent itself. */
function shown({ statusCode, headers, body }: LightMyRequestResponse): string {
  const { date: _, traceparent: __, etag: ___, 'content-length': ____, ...rest } = headers;
  const sent = Object.values(PARAMS)
    .flat()
    .toSorted((left, right) => right.length - left.length);
  return sent.reduce((text, value) => text.replaceAll(value, '?'), JSON.stringify([statusCode, rest, body]));
}

const ask = (walked: Walked, url: string, key: string) =>
  acme.request(
    { method: walked.method as 'GET', url, ...(!isRead(walked) && { payload: { reason: 'why' } }) },
    key,
  );

async function seesNothing(walked: Walked, who: keyof typeof keys): Promise<void> {
  const answer = await ask(walked, walked.url, keys[who]);
  const absent = await ask(walked, walked.absentUrl, keys[who]);
  const at = `${who}: ${walked.method} ${walked.url}: ${answer.body.slice(0, 400)}`;
  assert.equal(shown(answer), shown(absent), at);
  if (walked.url === walked.absentUrl) assert.doesNotMatch(answer.body, TRACE, at);
}

/** Routes that say nothing about packs. */
const OTHER = /^\/(healthz|readyz|assets\/|v1\/host\/gantry\/keys)/;
/** They need `packs:publish`, which the partner lacks. */
const KEYED = /^\/v1\/host\/gantry\/registry\/claims/;

test('for others a private pack does not exist, on any route, also after its owner read it', async () => {
  const reads = walk().filter(isRead);
  assert.ok(reads.length > 25, String(reads.length));
  // The owner first: what was derived for it must not be answered to others
  for (const walked of reads) await ask(walked, walked.url, keys.owner);
  for (const who of ['nobody', 'stranger'] as const)
    for (const walked of reads) await seesNothing(walked, who);
});

test('its owner, its publishers and operators see it on every route that shows packs', async () => {
  for (const who of ['owner', 'partner', 'operator'] as const)
    for (const walked of walk().filter((each) => isRead(each) && !OTHER.test(each.path))) {
      if (who === 'partner' && KEYED.test(walked.path)) continue;
      const { statusCode, headers, body } = await ask(walked, walked.url, keys[who]);
      const at = `${who}: ${walked.method} ${walked.url}: ${body.slice(0, 200)}`;
      assert.equal(statusCode, 200, at);
      assert.equal(headers['cache-control'], 'private, no-cache', at);
      assert.equal(headers['access-control-allow-origin'], undefined, at);
      assert.match(String(headers.vary), /Authorization/, at);
      const isText = /json|html/.test(String(headers['content-type'])) && walked.method === 'GET';
      if (isText && !walked.path.endsWith('{schema}')) assert.match(body, TRACE, at);
    }
});

test('public packs stay open to all origins and caches, which keep readers with a key apart', async () => {
  const { headers } = await acme.request({ url: '/v1/packs/vendor.acme.tools' }, keys.nobody);
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['cache-control'], 'public, max-age=300');
  assert.equal(headers.vary, 'Accept-Encoding, Authorization');
});

test('a key that the registry does not know is refused, not ignored', async () => {
  const wrong = await acme.request({ url: `/v1/packs/${NAME}` }, 'gk_wrong');
  assert.equal(wrong.json().error, 'unauthenticated');
});

test('a test key sees a private pack of its tenant in the test namespace alone', async () => {
  const status = async (url: string) => (await acme.request({ url }, keys.test)).statusCode;
  assert.equal(await status(`/v1/packs-test/${NAME}`), 200);
  for (const walked of walk().filter((each) => isRead(each) && !each.path.startsWith('/v1/packs-test/')))
    await seesNothing(walked, 'test');
});

test('a claim that overlaps a private one is not shown which', async () => {
  const tried = { namespace: 'private.acme.vault.*' };
  const refused = await claim(acme, tried, keys.stranger);
  assert.equal(refused.statusCode, 409);
  assert.doesNotMatch(refused.body, /private\.acme\.\*/);
});

test('an advisory about a private pack names no other pack', async () => {
  const refused = await advise('OPENWOP-2026-0002', ['vendor.acme.tools', NAME]);
  assert.match(refused.json().message, /is private, .* Publish one for each pack/);
});

test('names of the scope local are refused, and a private pack needs an owner', async () => {
  const local = 'local.acme.tools';
  const bytes = await madePack({ manifest: { name: local } });
  assert.equal((await publish(acme, { name: local, bytes })).json().error, 'invalid_pack_scope');
  const claimed = await claim(acme, { namespace: 'local.acme.*' });
  assert.equal(claimed.json().error, 'invalid_pack_scope');
  const unowned = await publish(acme, {
    name: ABSENT,
    bytes: await madePack({ manifest: { name: ABSENT } }),
  });
  assert.equal(unowned.json().error, 'forbidden');
});

test('writing shows others nothing of a private pack either', async () => {
  for (const walked of walk().filter((each) => !isRead(each))) await seesNothing(walked, 'stranger');
});

test('a claim that is given to another tenant takes its private packs along', async () => {
  const payload = { namespace: 'private.acme.*', owner: 'stranger' };
  await isOk(claim(acme, payload));
  const reads = walk().filter(({ path }) => !path.startsWith('/v1/packs-test/'));
  for (const walked of reads.filter(isRead)) await seesNothing(walked, 'owner');
  assert.match((await acme.request({ url: '/v1/index.json' }, keys.stranger)).body, TRACE);
});
