import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createServer, hashSecret } from '@gantry/http';
import { SCOPES } from '@gantry/protocol';
import { Changes, ResourceService } from '@gantry/resources';
import { CommitPipeline, openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { accounts, accountsWire } from '../../../resources/src/testing/sample.ts';
import { freshFolder } from '../../../store/src/testing/data-dir.ts';
import { resourceRoutes } from './resources.ts';

const URL = '/v1/host/gantry/accounts';

test('a writing method of the whole collection is one change, made once for its key', async (t) => {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  const { app, idempotency } = createServer({
    store,
    now: Date.now,
    randomBytes,
    log: pino({ level: 'silent' }),
    access: {},
    maxRequestBodyBytes: 1_048_576,
  });
  const changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
  const service = new ResourceService(accounts, {
    changes,
    entries: store.entries,
    now: Date.now,
    services: undefined,
  });
  resourceRoutes(app, accountsWire, service, idempotency);
  await app.ready();
  const dates = { createdAt: Date.now(), expiresAt: null, revokedAt: null };
  const record = {
    keyId: 'key_1',
    workspace: 'default',
    principal: 'principal_1',
    tenant: 'acme',
    name: 'all',
    hash: hashSecret('all'),
    scopes: SCOPES,
    ...dates,
  };
  await store.commit([[{ kind: 'putKey', record }]]);
  const post = async (path: string, body: object, headers = {}) => {
    const authorization = { authorization: 'Bearer all', ...headers };
    return app.inject({ method: 'POST', url: `${URL}${path}`, headers: authorization, payload: body });
  };

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
