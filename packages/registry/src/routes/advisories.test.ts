import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { ADMIN_KEY, readServer, sampleCatalogue } from '../testing/read-server.ts';

const ADVISORY = {
  id: 'OPENWOP-2026-0001',
  publishedAt: '2026-06-01',
  severity: 'high',
  summary: 'The pick node reads too much.',
  affected: [{ packName: 'vendor.gantry.text', versions: '<1.0.1', fixedIn: '1.0.1' }],
};
const PATH = '/v1/host/gantry/registry/advisories/OPENWOP-2026-0001';

type Server = Awaited<ReturnType<typeof readServer>>;

const put = (app: Server, payload: JsonObject, url = PATH, key: string | null = ADMIN_KEY) =>
  app.inject({
    method: 'PUT',
    url,
    payload,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });

/** The text pack is withdrawn, as an advisory about it demands. */
async function yankedText(t: Parameters<typeof readServer>[0]) {
  const catalogue = await sampleCatalogue(['text', 'review']);
  const app = await readServer(t, catalogue);
  const [version] = await catalogue.versions('vendor.gantry.text');
  assert.ok(version);
  catalogue.put({ ...version, yank: { reason: 'bad', yankedAt: '2026-06-01T00:00:00Z', yankedBy: 'key_1' } });
  return app;
}

const feed = async (app: Server): Promise<JsonObject[]> =>
  (await app.inject('/security/advisories.json')).json().advisories;

test('an advisory about a version that is still offered is refused, and names it', async (t) => {
  const app = await readServer(t, await sampleCatalogue(['text']));
  const answer = await put(app, ADVISORY);
  assert.equal(answer.statusCode, 409);
  assert.deepEqual(answer.json().details.notYanked, ['vendor.gantry.text@1.0.0']);
  assert.match(answer.json().message, /Yank them first/);
  assert.deepEqual(await feed(app), []);
});

test('it is published once its versions are withdrawn, and saying it again changes nothing', async (t) => {
  const app = await yankedText(t);
  assert.equal((await put(app, ADVISORY)).statusCode, 201);
  const again = await put(app, ADVISORY);
  assert.deepEqual([again.statusCode, again.json().outcome], [200, 'unchanged']);
  assert.deepEqual(await feed(app), [ADVISORY]);
});

test('two that publish at once: one wins, and the other is told or finds nothing to do', async (t) => {
  const app = await yankedText(t);
  const other = { ...ADVISORY, summary: 'The pick node reads far too much.' };
  const statuses = (await Promise.all([put(app, ADVISORY), put(app, other)])).map(
    ({ statusCode }) => statusCode,
  );
  assert.ok(statuses.includes(201), String(statuses));
  assert.equal((await feed(app)).length, 1);
});

test('it may be corrected, but its first day stays', async (t) => {
  const app = await yankedText(t);
  await put(app, ADVISORY);
  const corrected = { ...ADVISORY, severity: 'critical', updatedAt: '2026-06-02' };
  assert.equal((await put(app, corrected)).json().outcome, 'corrected');
  assert.deepEqual(await feed(app), [corrected]);
  const moved = await put(app, { ...ADVISORY, publishedAt: '2026-06-02' });
  assert.deepEqual([moved.statusCode, moved.json().error], [409, 'conflict']);
});

test('what readers could not use is refused', async (t) => {
  const app = await yankedText(t);
  const affected = (change: JsonObject) => ({
    ...ADVISORY,
    affected: [{ ...ADVISORY.affected[0], ...change }],
  });
  const bad: readonly [why: string, advisory: JsonObject][] = [
    ['unknown pack', affected({ packName: 'vendor.gantry.none' })],
    ['broken range', affected({ versions: 'some of them' })],
    ['other id', { ...ADVISORY, id: 'OPENWOP-2026-0002' }],
    ['no id of ours', { ...ADVISORY, id: 'CVE-1' }],
    ['long summary', { ...ADVISORY, summary: 'a'.repeat(201) }],
    ['no day', { ...ADVISORY, publishedAt: 'today' }],
    ['script as a link', { ...ADVISORY, advisoryUrl: 'javascript:alert(1)' }],
    ['unknown member', { ...ADVISORY, html: '<script>' }],
  ];
  for (const [why, advisory] of bad) assert.equal((await put(app, advisory)).statusCode, 400, why);
  assert.deepEqual(await feed(app), []);
});

test('only the operator publishes', async (t) => {
  const app = await yankedText(t);
  assert.equal((await put(app, ADVISORY, PATH, null)).statusCode, 401);
  assert.equal((await put(app, ADVISORY, PATH, 'another')).statusCode, 401);
});

test('the page of an affected version says so', async (t) => {
  const app = await yankedText(t);
  const before = await app.inject('/packs/vendor.gantry.text');
  assert.doesNotMatch(before.body, /OPENWOP-2026-0001/);
  await put(app, ADVISORY);
  const after = await app.inject('/packs/vendor.gantry.text');
  assert.match(after.body, /OPENWOP-2026-0001, high\./);
  assert.match(after.body, /The pick node reads too much\./);
  assert.doesNotMatch((await app.inject('/packs/vendor.gantry.review')).body, /OPENWOP/);
});
