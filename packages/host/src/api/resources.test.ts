import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ResourceService } from '@gantry/resources';
import { boards, boardsWire, tasks, tasksWire } from '../../../resources/src/testing/boards.ts';
import { accounts, accountsWire } from '../../../resources/src/testing/sample.ts';
import { resourceRoutes } from './resources.ts';
import { resourceServer } from './testing/resource-server.ts';

test('a writing method of the whole collection is one change, made once for its key', async (t) => {
  const { send } = await resourceServer(t, (app, options, idempotency) =>
    resourceRoutes(app, accountsWire, new ResourceService(accounts, options), idempotency),
  );
  const post = (path: string, body: object, headers = {}) => send('POST', `/accounts${path}`, body, headers);
  const [from, to] = [(await post('', { name: 'a' })).json().id, (await post('', { name: 'b' })).json().id];
  await post(`/${from}:deposit`, { amount: 5 });
  const key = { 'idempotency-key': 'transfer-1' };
  for (let time = 0; time < 2; time++) {
    const answer = await post(':transfer', { from, to, amount: 3 }, key);
    assert.deepEqual([answer.statusCode, answer.json()], [200, { from: 2, to: 3 }]);
  }
  const refused = await post(':transfer', { from, to, amount: 3 });
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'conflict']);
  assert.equal((await post(':sum', { amounts: [2, 3] })).json(), 5);
});

const boardServer = (t: TestContext) =>
  resourceServer(t, (app, options, idempotency) => {
    resourceRoutes(app, boardsWire, new ResourceService(boards, options), idempotency);
    resourceRoutes(app, tasksWire, new ResourceService(tasks, options), idempotency);
  });

const OTHER = { authorization: 'Bearer other' };

test('PATCH replaces the given fields at the wanted version, once for its key', async (t) => {
  const { send } = await boardServer(t);
  const made = await send('POST', '/boards', { boardId: 'one', title: 'a' });
  const etag = String(made.headers.etag);
  const patch = (body: object | string, headers = {}) => send('PATCH', '/boards/one', body, headers);

  const key = { 'idempotency-key': 'patch-1', 'if-match': etag };
  const changed = await patch({ title: 'b' }, key);
  assert.deepEqual(changed.json(), { boardId: 'one', title: 'b', updatedBy: 'principal_acme' });
  assert.equal((await patch({ title: 'b' }, key)).body, changed.body, 'a repeat gets the first answer');
  const stale = await patch({ title: 'c' }, { 'if-match': etag });
  const { error, details } = stale.json();
  assert.deepEqual([stale.statusCode, error], [409, 'conflict']);
  assert.equal(`"${details.currentVersion}"`, changed.headers.etag);
  assert.equal(
    (await patch({ title: 'c' })).json().title,
    'c',
    'without If-Match it is for the current version',
  );

  const json = { 'content-type': 'application/json' };
  for (const [body, headers, status, message] of [
    [{ titel: 'd' }, {}, 400, 'body has no member "titel". Did you mean title? It takes title, team.'],
    [{ boardId: 'two' }, {}, 400, 'body has no member "boardId". It takes title, team.'],
    [{}, {}, 400, 'body changes nothing. It takes title, team.'],
    ['', {}, 400, 'body changes nothing. It takes title, team.'],
    [{ title: 7 }, {}, 400, 'body/title must be string.'],
    ['[]', json, 400, 'body changes nothing. It takes title, team.'],
    ['title=d', { 'content-type': 'text/plain' }, 415, undefined],
    [{ title: 'd' }, { 'if-match': 'one' }, 400, 'If-Match must be the ETag of an earlier answer, or *.'],
  ] as const) {
    const refused = await patch(body, headers);
    assert.equal(refused.statusCode, status, refused.body);
    if (message !== undefined) assert.equal(refused.json().message, message);
  }
  const missing = await send('PATCH', '/boards/none', { title: 'd' });
  const foreign = await patch({ title: 'd' }, OTHER);
  assert.equal((await send('DELETE', '/boards/one')).statusCode, 200);
  const deleted = await patch({ title: 'd' });
  for (const each of [missing, foreign, deleted]) {
    assert.equal(each.statusCode, 404);
    assert.equal(each.body, missing.body);
  }
});

test('lists are filtered by one name at a time, in pages that are whole', async (t) => {
  const { send } = await boardServer(t);
  await send('POST', '/boards', { boardId: 'one', title: 'a' });
  await send('POST', '/boards', { boardId: 'two', title: 'b' });
  await send('PATCH', '/boards/two', { team: 'core' });
  const ids = async (query: string, headers = {}) =>
    (await send('GET', `/boards?${query}`, undefined, headers))
      .json()
      .boards.map((each: { boardId: string }) => each.boardId);
  assert.deepEqual(await ids('team=core'), ['two']);
  assert.deepEqual(await ids('team=none&limit=1'), ['one']);
  assert.deepEqual(await ids('team=nobody'), []);
  assert.deepEqual(await ids('team=core', OTHER), []);
  assert.deepEqual(await ids(''), ['two', 'one']);
  assert.deepEqual(await ids('team=core&before=one'), []);
  const two = await send('GET', '/tasks?title=a&boardId=one');
  assert.equal(two.json().message, 'The list takes one filter at a time: title, boardId.');
  assert.equal(two.statusCode, 400);
  for (const [query, message] of [
    ['taem=core', 'query has no filter "taem". Did you mean team? It takes team, before, limit.'],
    ['title=a', 'query has no filter "title". It takes team, before, limit.'],
    ['team=', 'query/team must not have fewer than 1 characters.'],
  ] as const) {
    const refused = await send('GET', `/boards?${query}`);
    assert.deepEqual([refused.statusCode, refused.json().message], [400, message]);
  }
});

test('items of a parent are listed and created below it, and hidden with it', async (t) => {
  const { send } = await boardServer(t);
  for (const boardId of ['one', 'two']) await send('POST', '/boards', { boardId, title: boardId });
  const made: string[] = [];
  for (let i = 0; i < 3; i++)
    made.push((await send('POST', '/boards/one/tasks', { title: `${i}` })).json().taskId);
  const flat = await send('POST', '/tasks', { boardId: 'two', title: 'flat' });
  // Those of one millisecond are in the order of their ids
  const [a, b, c] = made.sort().reverse();
  const list = async (url: string) => {
    const { tasks: listed, nextBefore } = (await send('GET', url)).json();
    return [listed.map((each: { taskId: string }) => each.taskId), nextBefore];
  };
  assert.deepEqual(await list('/boards/one/tasks?limit=2'), [[a, b], b]);
  assert.deepEqual(await list(`/boards/one/tasks?limit=2&before=${b}`), [[c], undefined]);
  assert.deepEqual(await list('/tasks?boardId=two'), [[flat.json().taskId], undefined]);
  assert.equal((await send('GET', `/tasks/${a}`)).json().boardId, 'one');

  const missing = await send('GET', '/boards/none/tasks');
  const foreign = await send('GET', '/boards/one/tasks', undefined, OTHER);
  const create = await send('POST', '/boards/one/tasks', { title: 'x' }, OTHER);
  await send('DELETE', '/boards/one');
  const deleted = await send('GET', '/boards/one/tasks');
  for (const each of [missing, foreign, create, deleted]) {
    assert.deepEqual([each.statusCode, each.body], [404, missing.body]);
    const { traceparent: _, date: __, ...headers } = each.headers;
    assert.deepEqual(Object.keys(headers), ['content-type', 'content-length', 'connection']);
  }
  const named = await send('POST', '/boards/two/tasks', { boardId: 'one', title: 'x' });
  assert.equal(named.json().message, 'body has no member "boardId".');
});
