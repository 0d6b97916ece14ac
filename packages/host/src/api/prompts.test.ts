import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { declaredArchive } from '../packs/connections/testing/declared-archive.ts';
import { PACKS_URL, packTest } from '../packs/testing/pack-test.ts';
import { assertError, assertPublic } from './testing/api-test.ts';

const prompt = (templateId: string, more: JsonObject = {}): JsonObject => ({
  templateId,
  version: '1.0.0',
  kind: 'system',
  text: 'Be kind.',
  ...more,
});
const greet = prompt('greet', {
  kind: 'user',
  text: 'Hello {{name}}',
  tags: ['short', 'warm'],
  modelHints: { modelClass: 'writing' },
  variables: [{ name: 'name', type: 'string', required: true }],
});

async function promptTest(...args: Parameters<typeof packTest>) {
  const api = await packTest(...args);
  return {
    ...api,
    async installed(prompts: JsonObject[], more: JsonObject = {}) {
      const response = await api.upload(await declaredArchive({ kind: 'prompt', prompts, ...more }));
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    async ids(query = '') {
      const { items } = (await api.get(`/v1/prompts${query}`)).json();
      return items.map(({ templateId }: JsonObject) => templateId);
    },
    render: (body: JsonObject) => api.post('/v1/prompts:render', { variables: {}, ...body }),
  };
}

test('prompts of installed packs are listed with where they come from', async (t) => {
  const api = await promptTest(t);
  assert.deepEqual((await api.get('/v1/prompts')).json(), { items: [] });
  await api.installed([greet, prompt('calm', { meta: { author: 'Ann', source: 'host' } })]);
  const { items } = (await api.get('/v1/prompts')).json();
  assert.deepEqual(items[0].meta, {
    author: 'Ann',
    source: 'pack',
    packName: 'vendor.acme.kit',
    packVersion: '1.0.0',
  });
  for (const item of items) assertPublic('prompt-template.schema.json', item);
  assert.deepEqual(await api.ids('?kind=user'), ['greet']);
  assert.deepEqual(await api.ids('?tag=short&tag=warm'), ['greet']);
  assert.deepEqual(await api.ids('?tag=short&tag=cold'), []);
  assert.deepEqual(await api.ids('?modelClass=writing'), ['greet']);
  assert.deepEqual(await api.ids('?source=pack'), ['calm', 'greet']);
  assert.deepEqual(await api.ids('?source=host'), []);
  await api.request({ method: 'DELETE', url: `${PACKS_URL}/vendor.acme.kit` });
  assert.deepEqual(await api.ids(), []);
});

test('a list goes on where it stopped, whatever came in between', async (t) => {
  const api = await promptTest(t);
  await api.installed(['c', 'e', 'a', 'g'].map((id) => prompt(id)));
  const first = (await api.get('/v1/prompts?limit=2')).json();
  await api.installed(
    ['b', 'd', 'f'].map((id) => prompt(id)),
    { name: 'vendor.acme.later' },
  );
  const pages = [first.items.map(({ templateId }: JsonObject) => templateId)];
  for (let cursor = first.nextCursor; cursor !== undefined; ) {
    const page = (await api.get(`/v1/prompts?limit=2&cursor=${cursor}`)).json();
    pages.push(page.items.map(({ templateId }: JsonObject) => templateId));
    cursor = page.nextCursor;
  }
  assert.deepEqual(pages, [
    ['a', 'c'],
    ['d', 'e'],
    ['f', 'g'],
  ]);
  assertError(await api.get('/v1/prompts?cursor=nonsense'), 400, 'validation_error');
  assertError(await api.get('/v1/prompts?limit=201'), 400, 'validation_error');
});

test('a prompt is read at a version or at its latest, and not twice', async (t) => {
  const api = await promptTest(t);
  await api.installed([prompt('calm', { version: '1.10.0', text: 'Ten.' })]);
  await api.installed([prompt('calm', { version: '1.9.0', text: 'Nine.' })], { version: '1.1.0' });
  const latest = await api.get('/v1/prompts/calm');
  assert.equal(latest.json().text, 'Ten.');
  assert.equal(latest.headers['cache-control'], 'private, max-age=60');
  const etag = String(latest.headers.etag);
  const again = await api.get('/v1/prompts/calm', { 'if-none-match': etag });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
  const pinned = await api.get('/v1/prompts/calm?version=1.9.0');
  assert.equal(pinned.json().text, 'Nine.');
  assert.match(String(pinned.headers['cache-control']), /private.*immutable/);
  assertError(await api.get('/v1/prompts/calm?version=3.0.0'), 404, 'not_found');
  assertError(await api.get('/v1/prompts/unknown'), 404, 'not_found');
});

test('packs with a prompt of the same name are told apart by their own', async (t) => {
  const api = await promptTest(t);
  await api.installed([prompt('calm', { text: 'First.' })]);
  await api.installed([prompt('calm', { text: 'Second.' })], { name: 'vendor.acme.other' });
  const libraries = ['vendor.acme.kit', 'vendor.acme.other'];
  assert.deepEqual(await api.ids(), ['calm', 'calm']);
  assertError(await api.get('/v1/prompts/calm'), 400, 'prompt_ref_ambiguous', { libraries });
  assertError(await api.render({ ref: 'prompt:calm@1.0.0' }), 400, 'prompt_ref_ambiguous', { libraries });
  const read = await api.get('/v1/prompts/calm?libraryId=vendor.acme.other');
  assert.equal(read.json().text, 'Second.');
  const ref = { libraryId: 'vendor.acme.kit', templateId: 'calm' };
  assert.equal((await api.render({ ref })).json().composed, 'First.');
});

test('a preview has the text, its hash and what went wrong', async (t) => {
  const api = await promptTest(t);
  await api.installed([greet]);
  const body = { ref: 'prompt:greet', variables: { name: 'Ann' } };
  const [one, two] = [(await api.render(body)).json(), (await api.render(body)).json()];
  assert.deepEqual(one, two);
  assert.deepEqual([one.composed, one.refs], ['Hello Ann', ['prompt:greet@1.0.0']]);
  const other = (await api.render({ ...body, variables: { name: 'Bob' } })).json();
  assert.ok(other.hash !== one.hash && other.variableHashes.name !== one.variableHashes.name);
  const over = { templateId: 'greet', variableOverrides: { name: 'Zoe' } };
  const untrusted = (await api.render({ ...body, ref: over, contentTrust: 'untrusted' })).json();
  assert.equal(untrusted.composed, 'Hello <UNTRUSTED>Zoe</UNTRUSTED>');
  assert.equal(untrusted.contentTrust, 'untrusted');
  assertError(await api.render({ ref: 'greet' }), 400, 'prompt_ref_invalid');
  assertError(await api.render({ ref: 'prompt:none' }), 404, 'not_found');
  assertError(await api.render({ ref: 'prompt:greet' }), 400, 'prompt_variable_unresolved');
  const wrong = { ref: 'prompt:greet', variables: { name: 7 } };
  assertError(await api.render(wrong), 400, 'prompt_variable_type_mismatch', { variable: 'name' });
  const large = { ref: 'prompt:greet', variables: { name: 'x'.repeat(300_000) } };
  assertError(await api.render(large), 413, 'payload_too_large');
});

test('a template that cannot be filled in or is too large is not installed', async (t) => {
  const api = await promptTest(t);
  const refused = async (text: string) =>
    api.upload(await declaredArchive({ kind: 'prompt', prompts: [prompt('bad', { text })] }));
  assertError(await refused('Hello {{name}}'), 400, 'prompt_template_invalid');
  assertError(await refused('€'.repeat(30_000)), 400, 'prompt_template_invalid');
  assert.deepEqual(await api.ids(), []);
});

test('other tenants see none of it, and prompts of packs are not changed', async (t) => {
  const api = await promptTest(t);
  await api.installed([greet]);
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    tenant: 'globex',
    scopes: ['prompts:read'],
  });
  const other = { authorization: `Bearer ${made.json().key}` };
  assert.deepEqual((await api.get('/v1/prompts', other)).json(), { items: [] });
  assertError(await api.get('/v1/prompts/greet', other), 404, 'not_found');
  assertError(
    await api.post('/v1/prompts:render', { ref: 'prompt:greet', variables: {} }, other),
    404,
    'not_found',
  );
  assertError(await api.post('/v1/prompts', greet), 409, 'conflict');
  assertError(await api.post('/v1/prompts', greet, other), 403, 'forbidden');
  const remove = await api.request({ method: 'DELETE', url: '/v1/prompts/greet' });
  assertError(remove, 403, 'forbidden');
  assertError(await api.get('/v1/prompts?workspaceId=w1'), 403, 'workspace_membership_required');
  const { prompts } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(
    [prompts.supported, prompts.endpointsSupported, prompts.packsSupported, prompts.mutableLibrary],
    [true, true, true, true],
  );
});

test('a tenant writes prompts of its own: versions only rise, and all of them stay', async (t) => {
  const api = await promptTest(t);
  const put = (body: JsonObject) => api.request({ method: 'PUT', url: '/v1/prompts/greet', payload: body });
  assertError(await put(greet), 404, 'not_found');
  const made = await api.post('/v1/prompts', { ...greet, meta: { author: 'Ann', source: 'host' } });
  assert.equal(made.statusCode, 201, made.body);
  assert.equal(made.headers.location, '/v1/prompts/greet');
  assertPublic('prompt-template.schema.json', made.json());
  const { author, source } = made.json().meta;
  assert.deepEqual([author, source], ['Ann', 'user']);
  assertError(await api.post('/v1/prompts', greet), 409, 'conflict');

  assertError(await put(greet), 409, 'conflict');
  assertError(await put({ ...greet, templateId: 'other', version: '2.0.0' }), 400, 'validation_error');
  const next = await put({ ...greet, version: '1.1.0', text: 'Hi {{name}}' });
  assert.equal(next.statusCode, 200, next.body);
  assert.equal((await api.get('/v1/prompts/greet')).json().version, '1.1.0');
  assert.equal((await api.get('/v1/prompts/greet?version=1.0.0')).json().text, greet.text);
  assert.deepEqual(await api.ids('?source=user'), ['greet', 'greet']);
  const rendered = await api.render({ ref: 'prompt:greet', variables: { name: 'Bo' } });
  assert.equal(rendered.json().composed, 'Hi Bo');

  const remove = () => api.request({ method: 'DELETE', url: '/v1/prompts/greet' });
  assert.equal((await remove()).statusCode, 204);
  assertError(await remove(), 404, 'not_found');
  assertError(await api.get('/v1/prompts/greet'), 404, 'not_found');

  for (const version of ['1.0.0', '1.1.0']) {
    const again = await api.post('/v1/prompts', { ...greet, version, text: 'Other {{name}}' });
    assertError(again, 409, 'conflict');
    assert.match(again.json().message, /higher than 1\.1\.0, which was deleted/);
  }
  assert.equal((await api.post('/v1/prompts', { ...greet, version: '1.1.1' })).statusCode, 201);
  assert.equal((await remove()).statusCode, 204);
  assertError(await api.post('/v1/prompts', { ...greet, version: '1.1.1' }), 409, 'conflict');
});

test('own prompts and those of packs are one list, page by page', async (t) => {
  const api = await promptTest(t);
  await api.installed(['b', 'd'].map((id) => prompt(id)));
  for (const id of ['c', 'a', 'e']) assert.equal((await api.post('/v1/prompts', prompt(id))).statusCode, 201);
  const next = { ...prompt('c'), version: '1.10.0' };
  await api.request({ method: 'PUT', url: '/v1/prompts/c', payload: next });
  const listed: string[] = [];
  for (let query = '?limit=2'; ; ) {
    const { items, nextCursor } = (await api.get(`/v1/prompts${query}`)).json();
    listed.push(...items.map(({ templateId, version }: JsonObject) => `${templateId}@${version}`));
    if (nextCursor === undefined) break;
    query = `?limit=2&cursor=${nextCursor}`;
  }
  assert.deepEqual(listed, ['a@1.0.0', 'b@1.0.0', 'c@1.0.0', 'c@1.10.0', 'd@1.0.0', 'e@1.0.0']);
});

test('a prompt that is not one, or of another workspace, is not kept', async (t) => {
  const api = await promptTest(t);
  const refused = async (more: JsonObject, status: number, code: string) =>
    assertError(await api.post('/v1/prompts', { ...greet, ...more }), status, code);
  await refused({ workspaceId: 'w1' }, 403, 'workspace_membership_required');
  await refused({ txt: 'Hello' }, 400, 'validation_error');
  await refused({ templateId: 'Greet' }, 400, 'validation_error');
  await refused({ text: '€'.repeat(30_000) }, 400, 'prompt_template_invalid');
  const name = { name: 'name', type: 'string', required: true };
  await refused({ variables: [name, { ...name, required: false }] }, 400, 'prompt_template_invalid');
  const slip = await api.post('/v1/prompts', { ...greet, templateId: 'slip', text: 'Hello {{nmae}}' });
  assert.match(String(slip.headers['gantry-warning']), /"nmae" \(ignored\)\. Did you mean name\?/);
  await api.request({ method: 'DELETE', url: '/v1/prompts/slip' });
  const secret = [{ name: 'key', type: 'string', required: true, source: 'secret' }];
  await refused({ variables: secret }, 400, 'prompt_template_invalid');
  assert.deepEqual(await api.ids(), []);
});
