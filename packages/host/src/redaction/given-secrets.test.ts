/** What pack code was given in one process is known in every other, before its first run of the tenant. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import type { Settings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const TYPE = 'vendor.acme.resolves';
const MASTER_KEY = 'one-key-for-every-process-of-this-database';
const CREDENTIALS = '/v1/host/gantry/credentials';
const given = [{ name: 'given', type: 'string' as const }];

/** A host of its own on the same data. */
async function opened(settings: Partial<Settings>, now?: () => number) {
  const closes: (() => unknown)[] = [];
  const lifetime = { after: (close: () => unknown) => void closes.push(close) };
  const api = await packTest(lifetime, {
    settings: { masterKey: MASTER_KEY, ...settings },
    ...(now && { now }),
  });
  const close = async (): Promise<void> => {
    for (const each of closes.splice(0).toReversed()) await each();
  };
  return { api, close };
}

/** Gives the value to pack code, and removes its credential. */
async function give(api: PackTest, ref: string, value: string): Promise<void> {
  const made = await api.post(CREDENTIALS, { ref, value });
  assert.equal(made.statusCode, 201, made.body);
  await api.registered(workflow('resolves', [node('a', TYPE, { ref })]));
  const run = await api.ended(await api.start('resolves'));
  assert.deepEqual(run.outputs, { length: value.length }, JSON.stringify(run));
  const removed = await api.request({ method: 'DELETE', url: `${CREDENTIALS}/${ref}` });
  assert.equal(removed.statusCode, 200, removed.body);
}

async function install(api: PackTest): Promise<void> {
  const body = `
    const { plaintext } = await ctx.secrets.resolve({ ref: ctx.config.ref, purpose: 'to test' });
    return { length: plaintext.length };`;
  const manifest = { peerDependencies: { 'secrets.resolveInPack': 'supported' } };
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body } }, manifest });
}

async function shown(api: PackTest, value: string): Promise<unknown> {
  const { variables } = await api.ended(await api.start('echoes', { inputs: { given: value } }));
  return (variables as { given: unknown }).given;
}

const ACCOUNT = { type: 'service_account', key: { secret: 'open sesame' }, url: 'amqp://app:f%3Dg7-Kx2q@mq' };

/** Gives a structured value in one process; another redacts its parts. */
async function givenParts(first: PackTest, second: PackTest): Promise<void> {
  await give(first, 'account', JSON.stringify(ACCOUNT));
  const text = 'a service_account with open sesame, f%3Dg7-Kx2q and f=g7-Kx2q';
  const redacted = 'a service_account with [REDACTED:account], [REDACTED:account] and [REDACTED:account]';
  assert.equal(await shown(second, text), redacted);
}

const echoes = workflow('echoes', [node('a', 'core.noop')], { variables: given });

test('after a restart', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = { dataDir: folder.path };
  const first = await opened(settings);
  t.after(first.close);
  await install(first.api);
  await first.api.registered(echoes);
  await give(first.api, 'gone', 'given-before-the-restart');
  await givenParts(first.api, first.api);
  await first.close();
  const second = await opened(settings);
  t.after(second.close);
  assert.equal(await shown(second.api, ACCOUNT.key.secret), '[REDACTED:account]');
  assert.equal(await shown(second.api, 'given-before-the-restart'), '[REDACTED:gone]');
});

test('the room of a value is free when its credential and its last run are gone', async (t) => {
  let aheadMs = 0;
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = { dataDir: folder.path };
  const { api, close } = await opened(settings, () => Date.now() + aheadMs);
  t.after(close);
  await install(api);
  await api.registered(echoes);
  const value = 'given-and-then-forgotten';
  await give(api, 'gone', value);
  const made = await api.post(CREDENTIALS, { ref: 'kept', value: 'given-and-still-in-use' });
  assert.equal(made.statusCode, 201, made.body);
  await api.registered(workflow('resolves', [node('a', TYPE, { ref: 'kept' })]));
  await api.ended(await api.start('resolves'));
  const { given } = api.host.services;
  assert.equal(await given.sweep(), 0);
  assert.equal(await shown(api, value), '[REDACTED:gone]');
  aheadMs = 31 * 86_400_000;
  await api.host.sweep();
  await close();
  // This process had opened it; another learns only what is kept
  const second = await opened(settings, () => Date.now() + aheadMs);
  t.after(second.close);
  assert.equal(await shown(second.api, value), value);
  assert.equal(await shown(second.api, 'given-and-still-in-use'), '[REDACTED:kept]');
});

test('in a second process on PostgreSQL, also what is given later', async (t: TestContext) => {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const settings = { databaseUrl: database.url };
  const first = await opened(settings);
  let aheadMs = 0;
  const second = await opened(settings, () => Date.now() + aheadMs);
  t.after(async () => {
    await first.close();
    await second.close();
    await database.drop();
  });
  await install(first.api);
  await first.api.registered(echoes);
  await give(first.api, 'early', 'given-before-its-first-run');
  await givenParts(first.api, second.api);
  assert.equal(await shown(second.api, 'given-before-its-first-run'), '[REDACTED:early]');
  await give(first.api, 'late', 'given-after-its-first-run');
  aheadMs = 2_001;
  assert.equal(await shown(second.api, 'given-after-its-first-run'), '[REDACTED:late]');
});
