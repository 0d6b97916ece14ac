import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject, WorkflowNode } from '@gantry/protocol';
import { openSqlite } from '@gantry/store';
import { edge, node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const NOTE = 'vendor.acme.note';
const MANUAL = 'vendor.acme.manual';
const APPROVED = 'vendor.acme.approved';
const schema: JsonObject = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' } },
};
const manifest: JsonObject = {
  kind: 'artifact-type',
  name: 'vendor.acme.notes',
  version: '1.0.0',
  engines: { openwop: '>=1.1' },
  artifactTypes: [
    { artifactTypeId: NOTE, schemaRef: 'note.json', schemaVersion: 3 },
    { artifactTypeId: MANUAL, schemaRef: 'manual.json', syncOn: 'manual' },
    { artifactTypeId: APPROVED, schemaRef: 'approved.json', syncOn: 'approval' },
  ],
};

const opened = onePerFile(async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const store = await openSqlite({ dataDir: folder.path });
  const api = await apiTest(t, { store, settings: { testSeams: true } });
  const schemas = { [NOTE]: schema, [MANUAL]: schema, [APPROVED]: schema };
  const installed = await api.post('/v1/host/sample/artifacttypes/install', { manifest, schemas });
  assert.equal(installed.statusCode, 200, installed.body);
  return { ...api, store };
});

const entries = async (kind: string) =>
  (await opened()).store.entries.list(kind, 'default', { limit: 1_000 });

const making = (content: Json, artifactType = NOTE): WorkflowNode =>
  node(
    'note',
    'core.identity',
    {},
    { artifactType, inputs: { artifact: { type: 'static', value: content } } },
  );

/** Starts a run that ends with what is given, and waits for its end unless it has a gate. */
async function made(content: Json, artifactType = NOTE, gate?: JsonObject): Promise<string> {
  const api = await opened();
  const gates = gate ? [node('gate', 'core.approvalGate', gate)] : [];
  await api.registered(workflow('make', [making(content, artifactType), ...gates]));
  const runId = await api.start('make');
  if (!gate) await api.ended(runId);
  return runId;
}

const URL = (runId: string, rest = '') => `/v1/runs/${runId}/artifacts/note${rest}`;
const HOST = (runId: string, rest = '') => `/v1/host/gantry/runs/${runId}/artifacts${rest}`;

describe('an artifact', () => {
  test('is read by the id that its event tells, with what is known of it', async () => {
    const api = await opened();
    const runId = await made({ title: 'Hello' });
    const answer = await api.get(URL(runId));
    const { createdAt, ...rest } = answer.json();
    assert.ok(Date.parse(createdAt) > 0);
    assert.deepEqual(rest, {
      runId,
      artifactId: 'note',
      artifactType: NOTE,
      nodeId: 'note',
      version: '1',
      registered: true,
      registrationSource: 'pack',
      schemaVersion: 3,
      summary: 'Hello',
      mediaType: 'application/json',
      bytes: 17,
      content: { title: 'Hello' },
    });
    const etag = String(answer.headers.etag);
    assert.equal((await api.get(URL(runId), { 'if-none-match': etag })).statusCode, 304);
    const { content: _content, ...listed } = answer.json();
    assert.deepEqual((await api.get(HOST(runId))).json(), { artifacts: [listed], drafts: [] });
  });

  test('is not there for others, under another id, or as another version', async () => {
    const api = await opened();
    const runId = await made({ title: 'Hello' });
    assertError(await api.get(`/v1/runs/${runId}/artifacts/none`), 404, 'not_found');
    assertError(await api.get(URL(runId, '?version=2')), 404, 'not_found');
    assertError(await api.get(URL('run_none')), 404, 'not_found');
    assertError(await api.get(URL(runId, '?format=pdf')), 400, 'validation_error');
    const keys = '/v1/host/gantry/keys';
    const stranger = (
      await api.post(keys, { name: 's', tenant: 'other', scopes: ['artifacts:read'] })
    ).json();
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    for (const url of [URL(runId), HOST(runId), HOST(runId, '/note/working-copy')])
      assertError(await api.get(url, as(stranger.key)), 404, 'not_found');
    const weak = (await api.post(keys, { name: 'w', scopes: ['runs:read'] })).json();
    assertError(await api.get(URL(runId), as(weak.key)), 403, 'forbidden');
  });

  test('larger than what stands in a row is stored whole, and goes with its run', async () => {
    const api = await opened();
    const title = 'ä'.repeat(200_000);
    const runId = await made({ title });
    assert.equal((await api.get(URL(runId))).json().content.title, title);
    assert.equal(
      (await api.request({ method: 'DELETE', url: `/v1/host/gantry/runs/${runId}` })).statusCode,
      200,
    );
    for (const kind of ['artifact', 'artifact-content']) {
      const left = await entries(kind);
      assert.deepEqual(
        left.filter(({ id }) => id.startsWith(runId)),
        [],
      );
    }
  });

  test('that does not fit fails the node with the path, and neither event nor artifact is there', async () => {
    const api = await opened();
    const runId = await made({ title: 1 });
    const { status, error } = (await api.get(`/v1/runs/${runId}`)).json();
    assert.deepEqual([status, error.code, error.details.path], ['failed', 'artifact_invalid', '/title']);
    assertError(await api.get(URL(runId)), 404, 'not_found');
  });

  test('is a document that runs nothing of its content', async () => {
    const api = await opened();
    const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>';
    const content = { title: evil, parts: [{ name: 'One', text: 'a\nb' }, 2], more: { ok: true } };
    const runId = await made(content);
    const html = await api.get(URL(runId, '?format=html'));
    assert.match(String(html.headers['content-type']), /^text\/html/);
    assert.match(String(html.headers['content-security-policy']), /default-src 'none'/);
    assert.ok(!/<script|<img/.test(html.body), html.body);
    assert.ok(html.body.includes('&lt;script&gt;'));
    const md = await api.get(URL(runId, '?format=md'));
    assert.match(String(md.headers['content-type']), /^text\/markdown/);
    assert.ok(md.body.includes('## parts\n\n- **name:** One'), md.body);
    assert.ok(md.body.includes('### ok') || md.body.includes('**ok:** true'), md.body);
    const json = await api.get(URL(runId, '?format=json'));
    assert.deepEqual(JSON.parse(json.body), content);
    assertError(await api.get(URL(runId, '?format=raw')), 400, 'validation_error');
  });
});

describe('a fork', () => {
  test('that replays tells the same and reads what its source stored', async () => {
    const api = await opened();
    const runId = await made({ title: 'Hello' });
    const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
    const replayId = fork.json().runId;
    assert.deepEqual((await api.get(URL(replayId))).json().content, { title: 'Hello' });
    const [listed] = (await api.get(HOST(replayId))).json().artifacts;
    assert.deepEqual([listed.runId, listed.version], [replayId, '1']);
    assert.deepEqual(
      (await entries('artifact')).filter(({ id }) => id.startsWith(replayId)),
      [],
    );
    const types = async (id: string) =>
      (await api.get(`/v1/runs/${id}/events/poll`)).json().events.map(({ type }: JsonObject) => type);
    assert.deepEqual(await types(replayId), await types(runId));
    await api.request({ method: 'DELETE', url: `/v1/host/gantry/runs/${runId}` });
    assertError(await api.get(URL(replayId)), 404, 'not_found', { sourceRunId: runId });
    assert.deepEqual((await api.get(HOST(replayId))).json().artifacts, []);
  });

  test('that goes on stores its own versions beside those of its source', async () => {
    const api = await opened();
    const again = { type: 'equals', left: 'output.done', right: false } as const;
    await api.registered(
      workflow(
        'looped',
        [
          node('loop', 'core.loop', { count: 2 }),
          making({ title: 'x' }),
          node('wait', 'core.delay', { delayMs: 1 }),
        ],
        { edges: [edge('loop', 'note', { condition: again }), edge('note', 'wait'), edge('wait', 'loop')] },
      ),
    );
    const runId = await api.start('looped');
    await api.ended(runId);
    const versions = async (id: string): Promise<string[]> =>
      (await api.get(HOST(id))).json().artifacts.map(({ version }: JsonObject) => version);
    assert.deepEqual(await versions(runId), ['1', '2']);
    const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
    const first = events.findIndex(({ type }: JsonObject) => type === 'artifact.created');
    const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'branch', fromSeq: first + 1 });
    const branchId = fork.json().runId;
    await api.ended(branchId);
    assert.deepEqual(await versions(branchId), ['1', '2']);
    const own = (await entries('artifact')).filter(({ id }) => id.startsWith(branchId));
    assert.deepEqual(
      own.map(({ id }) => id.slice(-1)),
      ['2'],
    );
    assert.equal((await api.get(URL(branchId, '?version=1'))).statusCode, 200);
  });
});

describe('an artifact that waits', () => {
  test('for an approval is stored as the approver edited it', async () => {
    const api = await opened();
    const runId = await made({ title: 'Draft' }, APPROVED, { actions: ['accept', 'edit-accept'] });
    assert.deepEqual((await api.get(HOST(runId))).json().drafts, [
      { artifactId: 'note', artifactType: APPROVED, nodeId: 'note', syncOn: 'approval' },
    ]);
    assertError(await api.get(URL(runId)), 404, 'not_found');
    const edit = (title: Json) =>
      api.post(`/v1/runs/${runId}/interrupts/gate`, {
        resumeValue: { action: 'edit-accept', editedArtifactData: { title } },
      });
    assertError(await edit(1), 400, 'validation_error', { path: '/editedArtifactData/title' });
    assert.equal((await edit('Better')).statusCode, 200);
    await api.ended(runId);
    assert.deepEqual((await api.get(URL(runId))).json().content, { title: 'Better' });
  });

  test('for somebody is registered as it is, then as it was edited, and never over a newer version', async () => {
    const api = await opened();
    const runId = await made({ title: 'Draft' }, MANUAL, {});
    const register = (key?: string) =>
      api.post(HOST(runId, '/note:register'), undefined, key ? { 'idempotency-key': key } : {});
    const copy = async (): Promise<JsonObject> => (await api.get(HOST(runId, '/note/working-copy'))).json();
    const write = (version: Json, content: Json) =>
      api.request({
        method: 'PUT',
        url: HOST(runId, '/note/working-copy'),
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ version, content }),
      });
    assert.deepEqual((await copy()).content, { title: 'Draft' });
    assert.deepEqual((await register('once')).json(), { runId, artifactId: 'note', version: '1' });
    assert.equal((await register('once')).json().version, '1');
    assertError(await register(), 409, 'conflict');

    const { version, base } = await copy();
    assert.equal(base, '1');
    assertError(await write(version!, { title: 1 }), 400, 'validation_error', { path: '/content/title' });
    assertError(await write('stale', { title: 'E' }), 409, 'artifact_conflict', { currentVersion: version! });
    const written = (await write(version!, { title: 'Edited' })).json();
    assertError(await write(version!, { title: 'Lost' }), 409, 'artifact_conflict');
    assert.deepEqual((await api.get(URL(runId))).json().content, { title: 'Draft' });
    assert.equal((await register()).json().version, '2');
    assertError(await register(), 409, 'artifact_conflict', { currentVersion: '2' });
    const last = (await api.get(URL(runId))).json();
    assert.deepEqual(
      [last.content, last.version, last.registeredBy !== undefined],
      [{ title: 'Edited' }, '2', true],
    );
    assert.deepEqual((await api.get(URL(runId, '?version=1'))).json().content, { title: 'Draft' });

    await api.post(`/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } });
    await api.ended(runId);
    assert.equal((await write(written.version, { title: 'Later' })).statusCode, 200);
    assertError(await register(), 409, 'conflict', { runStatus: 'completed' });
  });
});
