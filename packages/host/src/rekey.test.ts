/** A new root key while the host works: by requests, and for processes that share a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf, type RekeyStep } from '@gantry/protocol';
import { Changes, systemCaller } from '@gantry/resources';
import { CommitPipeline, openPostgres, openSqlite, type Store } from '@gantry/store';
import { pino } from 'pino';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { type ApiTest, apiTest, assertError } from './api/testing/api-test.ts';
import { contextOf, credentials } from './credentials/credential.ts';
import { openMasterKey } from './master-key.ts';
import { createRekey } from './rekey.ts';
import { temporaryFolder } from './testing/host-process.ts';
import { signed } from './triggers/testing/triggers-test.ts';

const VALUE = 'sk_live_CANARY_4f1c8a2e9b';
const DAY_MS = 86_400_000;
const KINDS = ['credential', 'webhook', 'trigger', 'given-secret'];

/** The ids of the keys that sealed something in the records of the host. */
async function keysIn(store: Store): Promise<string[]> {
  const bodies = await Promise.all(KINDS.map((kind) => store.entries.all(kind, null, 100)));
  const found = bodies.flat().flatMap(({ body }) => [...body.matchAll(/"([0-9a-f]{8})\.[\w-]{40,}"/g)]);
  assert.equal(found.length, 6);
  return [...new Set(found.map(([, id]) => id!))];
}

/** Answers what signs events of a trigger. */
async function withSecrets(api: ApiTest): Promise<{ ingestUrl: string; secret: string }> {
  const made = [
    await api.post('/v1/host/gantry/credentials', {
      ref: 'crm',
      value: VALUE,
      audiences: ['api.example.com'],
    }),
    await api.post('/v1/host/gantry/credentials/crm:rotate', { value: `${VALUE}-2` }),
    await api.post('/v1/webhooks', { url: 'https://hooks.example.com/', events: ['run.completed'] }),
    await api.post('/v1/trigger-subscriptions', { source: 'webhook', workflowId: 'three' }),
  ];
  for (const { statusCode, body } of made) assert.ok(statusCode < 300, body);
  const rotated = await api.post(`/v1/host/gantry/webhooks/${made[2]!.json().webhookId}:rotate-secret`, {});
  assert.equal(rotated.statusCode, 200, rotated.body);
  await api.host.services.credentials.reveal(ownerOf({ tenant: 'default' }), 'crm', {
    type: 'secret.resolved',
    purpose: 'test',
    runId: 'run-1',
    nodeId: 'a',
    pack: { name: 'vendor.acme.tools', version: '1.0.0' },
  });
  return made[3]!.json().binding;
}

test('records are sealed anew, values stay, and old keys are deleted when nothing of them is kept', async (t) => {
  let now = Date.UTC(2030, 0, 1);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  const api = await apiTest(t, { now: () => now, store });
  const step = async (): Promise<RekeyStep> => {
    const answer = await api.post('/v1/host/gantry/rekey', {});
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json();
  };
  const trigger = await withSecrets(api);
  const [first] = await keysIn(store);
  const done = await step();
  assert.deepEqual([done.state, done.resealed, done.unreadable], ['done', 4, 0]);
  assert.notEqual(done.keyId, first);
  assert.deepEqual(await keysIn(store), [done.keyId]);
  assert.equal(done.endsAt, new Date(now + 31 * DAY_MS).toISOString());
  const open = (ref: string) => api.host.services.credentials.open(ownerOf({ tenant: 'default' }), ref);
  assert.equal((await open('crm')).value, `${VALUE}-2`);
  assert.equal((await open('crm@1')).value, VALUE);
  const headers = { 'content-type': 'application/json', ...signed(trigger.secret, '{}', now) };
  const event = { method: 'POST', url: new URL(trigger.ingestUrl).pathname, payload: '{}', headers } as const;
  assert.equal((await api.request(event)).statusCode, 202);
  for (let keys = 2; keys < 100; keys++) assert.equal((await step()).state, 'done');
  assertError(await api.post('/v1/host/gantry/rekey', {}), 409, 'conflict');
  assert.equal((await open('crm@1')).value, VALUE);
  now += 32 * DAY_MS;
  assert.equal(await api.host.services.rekey.sweep(), 99);
  assert.equal(await api.host.services.rekey.sweep(), 0);
  assert.equal((await open('crm')).value, `${VALUE}-2`);
});

test('only the operator moves the key', async (t) => {
  const api = await apiTest(t);
  const { key } = (
    await api.post('/v1/host/gantry/keys', { name: 'n', scopes: ['credentials:manage'], tenant: 'acme' })
  ).json();
  const headers = { authorization: `Bearer ${key}` };
  assertError(await api.post('/v1/host/gantry/rekey', {}, headers), 403, 'forbidden');
});

test('another process opens what the new key sealed, and a move that was cut off goes on', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  let now = Date.UTC(2030, 0, 1);
  const clock = () => now;
  const settings = { masterKey: 'k'.repeat(32), dataDir: '/nowhere' };
  const open = async () => {
    const store = await openPostgres({ url: database.url });
    const masterKey = await openMasterKey({ settings, store, now: clock });
    const pipeline = new CommitPipeline(store);
    const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
    const changes = new Changes({ store, pipeline, now: clock, randomBytes, sealer: masterKey });
    const log = pino({ level: 'silent' });
    const options = {
      masterKey,
      store,
      changes,
      now: clock,
      log,
      noticeMs: 30_000,
      journalsMs: DAY_MS,
      kinds: [credentials],
    };
    const rekey = createRekey(options);
    await rekey.start();
    t.after(async () => {
      await rekey.stop();
      await store.close();
    });
    return { masterKey, rekey, changes, store };
  };
  const [one, two] = [await open(), await open()];
  t.after(database.drop); // hooks run in this order: the stores are closed by then
  const caller = systemCaller('test', { tenant: 'acme' });
  const place = { tenant: 'acme', id: 'crm' };
  const material = { sealed: one.masterKey.seal(VALUE, contextOf(place, 1)) };
  await one.changes.run(caller, async (change) => {
    const version = { version: 1, createdAt: 0, material };
    const owner = { workspace: 'default', principal: null };
    const about = {
      kind: 'api_key',
      scope: 'tenant',
      owner,
      audiences: [],
      header: 'x',
      prefix: '',
    } as const;
    change.create(credentials, { ...about, versions: [version], sharedWith: [] }, 'crm');
  });
  const { state, keyId, waitMs } = await one.rekey.step();
  assert.deepEqual([state, waitMs], ['waiting', 30_000]);
  assert.deepEqual((await two.rekey.step()).keyId, keyId);
  assert.ok(one.masterKey.isCurrent(material.sealed));
  now += 30_000;
  // Both know the key by now, one without having read it again
  const sealed = one.masterKey.seal(VALUE, 'c');
  assert.ok(sealed.startsWith(keyId));
  assert.equal(two.masterKey.open(sealed, 'c'), VALUE);
  assert.deepEqual((await two.rekey.step()).resealed, 1);
  const body = (await one.store.entries.get({ kind: 'credential', ...place }))?.body ?? '';
  const [, resealed = ''] = /"sealed":"([^"]+)"/.exec(body) ?? [];
  assert.equal(one.masterKey.open(resealed, contextOf(place, 1)), VALUE);
  assert.ok(resealed.startsWith(keyId));
  assert.equal(
    one.masterKey.open(material.sealed, contextOf(place, 1)),
    VALUE,
    'until nothing of it is kept',
  );
});
