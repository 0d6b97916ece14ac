/** Signing in with a browser: a cookie stands for a key, for our own pages only, and ends with the key. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { NewKey } from '@gantry/protocol';
import type { LightMyRequestResponse } from 'fastify';
import { onEachDatabase } from '../testing/each-database.ts';
import { TEST_KEY } from '../testing/host-process.ts';
import { type ApiTest, apiTest, slow } from './testing/api-test.ts';

const SESSION = '/v1/host/gantry/session';
const KEYS = '/v1/host/gantry/keys';
const HOUR = 3_600_000;
const ORIGIN = 'http://localhost:80';
const OWN_PAGE = {
  host: 'localhost:80',
  origin: 'http://localhost',
  'x-gantry-console': '1',
  authorization: '',
};
/** What a browser sends when it reads. */
const READING = { host: 'localhost:80', 'sec-fetch-site': 'same-origin', authorization: '' };

type Headers = Record<string, string>;

/** Without the key of tests: an empty header is none. */
function send(api: ApiTest, method: 'GET' | 'POST' | 'DELETE', url: string, headers: Headers, body?: object) {
  const { authorization, ...rest } = headers;
  return api.host.app.inject({
    method,
    url,
    headers: {
      ...rest,
      ...(authorization && { authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { payload: JSON.stringify(body) }),
  });
}

const signIn = (api: ApiTest, body: object, headers: Headers = OWN_PAGE) =>
  send(api, 'POST', SESSION, headers, body);

function cookieOf({ statusCode, body, headers }: LightMyRequestResponse): string {
  assert.equal(statusCode, 201, body);
  return String(headers['set-cookie']).split(';', 1)[0]!;
}

const who = async (api: ApiTest, cookie: string, headers: Headers = READING) =>
  (await send(api, 'GET', SESSION, { ...headers, cookie })).json();

async function madeKey(api: ApiTest, more: object = {}): Promise<NewKey> {
  return (await api.post(KEYS, { name: 'ada', scopes: ['runs:read', 'keys:manage'], ...more })).json();
}

test('a browser signs in with a key, is known by its cookie, and signs out', async (t) => {
  const api = await apiTest(t);
  const { key, keyId } = await madeKey(api);
  const answer = await signIn(api, { key });
  assert.match(
    String(answer.headers['set-cookie']),
    /^gantry-session-80=[\w-]{43}\.default; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
  );
  const cookie = cookieOf(answer);
  const known = await who(api, cookie);
  assert.deepEqual([known.keyId, known.via, known.scopes], [keyId, 'session', ['runs:read', 'keys:manage']]);
  assert.equal((await who(api, '', { authorization: `Bearer ${key}` })).via, 'key');
  assert.equal(
    (await who(api, cookie, { ...READING, authorization: `Bearer ${TEST_KEY}` })).via,
    'key',
    'the key wins',
  );
  const secret = /=([\w-]+)/.exec(cookie)![1]!;
  for (const name of await readdir(api.dataDir))
    if (/\.db/.test(name)) assert.ok(!(await readFile(`${api.dataDir}/${name}`)).includes(secret), name);
  const gone = await send(api, 'DELETE', SESSION, { ...OWN_PAGE, cookie });
  assert.deepEqual([gone.statusCode, /Max-Age=0;/.test(String(gone.headers['set-cookie']))], [204, true]);
  assert.equal((await who(api, cookie)).error, 'unauthenticated');
});

test('a wrong, a revoked and an expired key get the same text', async (t) => {
  const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
  const api = await apiTest(t, { now: () => clock.at });
  const [revoked, expired] = [await madeKey(api), await madeKey(api, { expiresInSeconds: 1 })];
  await api.request({ method: 'DELETE', url: `${KEYS}/${revoked.keyId}` });
  clock.at += 2_000;
  const bodies = [{ key: 'wrong' }, { key: revoked.key }, { key: expired.key }, { code: 'wrong' }];
  const answers = await Promise.all(bodies.map((body) => signIn(api, body)));
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([401]));
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.ok(answers.every(({ headers }) => headers['set-cookie'] === undefined));
});

test('only our own pages change something with a session, or read with it', async (t) => {
  const api = await apiTest(t);
  const { key } = await madeKey(api);
  const cookie = cookieOf(await signIn(api, { key }));
  const { origin, 'x-gantry-console': mark, ...bare } = OWN_PAGE;
  const foreign: Headers[] = [
    bare,
    { ...bare, origin },
    { ...bare, 'x-gantry-console': mark },
    { ...OWN_PAGE, origin: 'http://localhost:8080' },
    { ...OWN_PAGE, origin: 'null' },
  ];
  for (const headers of foreign) {
    const refused = await send(
      api,
      'POST',
      KEYS,
      { ...headers, cookie },
      { name: 'x', scopes: ['runs:read'] },
    );
    assert.deepEqual([refused.statusCode, refused.json().error], [403, 'forbidden'], JSON.stringify(headers));
    assert.equal((await signIn(api, { key }, headers)).statusCode, 403);
  }
  for (const site of ['cross-site', 'same-site'])
    assert.equal((await who(api, cookie, { ...READING, 'sec-fetch-site': site })).error, 'unauthenticated');
  assert.equal(
    (await who(api, cookie, { ...READING, host: 'localhost:81' })).error,
    'unauthenticated',
    'other port',
  );
  const made = await send(api, 'POST', KEYS, { ...OWN_PAGE, cookie }, { name: 'x', scopes: ['runs:read'] });
  assert.equal(made.statusCode, 201);
  const scope = await send(api, 'POST', '/v1/runs', { ...OWN_PAGE, cookie }, { workflowId: 'three' });
  assert.equal(scope.json().details.scopeRequired, 'runs:create', 'a session has the scopes of its key');
});

test('behind a proxy with TLS the cookie is for https, and the public address counts', async (t) => {
  const api = await apiTest(t, { settings: { publicUrl: 'https://gantry.example.com' } });
  const proxied = { ...OWN_PAGE, host: '127.0.0.1:7070' };
  assert.match(
    (await signIn(api, { key: TEST_KEY }, proxied)).json().message,
    /https:\/\/gantry\.example\.com/,
  );
  const answer = await signIn(api, { key: TEST_KEY }, { ...proxied, origin: 'https://gantry.example.com' });
  assert.match(
    String(answer.headers['set-cookie']),
    /^__Host-gantry-session-443=.*; SameSite=Strict; Secure$/,
  );
  assert.equal((await who(api, cookieOf(answer), { host: '127.0.0.1:7070' })).via, 'session');
});

test('a session ends after twelve idle hours or seven days', async (t) => {
  const start = Date.parse('2027-01-01T00:00:00Z');
  const clock = { at: start };
  const api = await apiTest(t, { now: () => clock.at });
  const [used, idle] = [
    cookieOf(await signIn(api, { key: TEST_KEY })),
    cookieOf(await signIn(api, { key: TEST_KEY })),
  ];
  clock.at = start + 11 * HOUR;
  assert.equal((await who(api, used)).via, 'session');
  clock.at = start + 12 * HOUR;
  assert.equal((await who(api, idle)).error, 'unauthenticated');
  for (; clock.at < start + 7 * 24 * HOUR; clock.at += 6 * HOUR)
    assert.equal((await who(api, used)).via, 'session');
  assert.equal((await who(api, used)).error, 'unauthenticated');
});

test('the oldest sessions of a key end when it has many', async (t) => {
  const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
  const api = await apiTest(t, { now: () => clock.at });
  const cookies: string[] = [];
  for (let made = 0; made < 21; made++, clock.at += 10_000)
    cookies.push(cookieOf(await signIn(api, { key: TEST_KEY })));
  assert.equal((await who(api, cookies[0]!)).error, 'unauthenticated');
  assert.equal((await who(api, cookies[1]!)).via, 'session');
});

onEachDatabase('a link signs in once, within ten minutes, as its key', async (t, settings) => {
  const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
  const api = await apiTest(t, { settings, now: () => clock.at });
  const { key, keyId } = await madeKey(api);
  const link = async (body: object = {}) =>
    (
      await send(
        api,
        'POST',
        `${SESSION}/links`,
        { host: 'localhost:80', authorization: `Bearer ${key}` },
        body,
      )
    ).json();
  const { code, url } = await link({ to: '/runs/run_1?view=log' });
  assert.equal(url, `${ORIGIN}/sign-in?to=${encodeURIComponent('/runs/run_1?view=log')}#${code}`);
  const tries = await Promise.all([1, 2, 3].map(() => signIn(api, { code })));
  assert.deepEqual(tries.map(({ statusCode }) => statusCode).sort(), [201, 401, 401]);
  assert.equal((await who(api, cookieOf(tries.find(({ statusCode }) => statusCode === 201)!))).keyId, keyId);
  const late = await link();
  clock.at += 600_000;
  assert.equal((await signIn(api, { code: late.code })).statusCode, 401);
  for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example'])
    assert.equal((await link({ to })).error, 'validation_error', to);
  const orphan = await link();
  await api.request({ method: 'DELETE', url: `${KEYS}/${keyId}` });
  assert.equal((await signIn(api, { code: orphan.code })).statusCode, 401);
});

onEachDatabase(
  'a session and its streams end with the key, and when one signs out, in every process',
  async (t, settings) => {
    const api = await apiTest(t, { settings });
    const isShared = settings.databaseUrl !== undefined;
    const reading = isShared ? await apiTest(t, { settings, workflows: [] }) : api;
    const address = await reading.host.app.listen({ host: '127.0.0.1', port: 0 });
    const { host } = new URL(address);
    const page = { ...OWN_PAGE, host, origin: address };
    const run = await api.registered(slow).then(() => api.start('slow'));
    const ends: ((key: NewKey, cookie: string) => Promise<unknown>)[] = [
      ({ keyId }) => api.request({ method: 'DELETE', url: `${KEYS}/${keyId}` }),
      (_, cookie) => send(api, 'DELETE', SESSION, { ...page, cookie }),
    ];
    for (const end of ends) {
      const key = await madeKey(api);
      const cookie = cookieOf(await signIn(api, { key: key.key }, page));
      const request = get(`${address}/v1/runs/${run}/events`, { agent: false, headers: { cookie } });
      const [stream] = (await once(request, 'response')) as [IncomingMessage];
      assert.equal(stream.statusCode, 200);
      const closed = once(stream.resume(), 'close');
      await end(key, cookie);
      await closed;
      assert.equal((await send(reading, 'GET', SESSION, { host, cookie })).statusCode, 401);
    }
  },
);
