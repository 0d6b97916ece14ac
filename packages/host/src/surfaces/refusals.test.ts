/** What pack code and callers are told when they ask for what cannot be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { assertError } from '../api/testing/api-test.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';

const TYPE = 'vendor.acme.ask';

const asking = (body: string, ...peers: readonly string[]) => ({
  nodes: { [TYPE]: { body, role: 'side-effect' } },
  manifest: { peerDependencies: Object.fromEntries(peers.map((name) => [name, 'supported'])) },
});

async function ran(api: PackTest): Promise<JsonObject> {
  await api.registered(workflow('ask', [node('a', TYPE)]));
  return api.ended(await api.start('ask'));
}

test('a choice that is none of those offered is told with all of them', async (t) => {
  const api = await packTest(t);
  const body = `
    const told = (call) => call.then(() => 'done', ({ message }) => message);
    const row = { table: 't', row: { id: 'r1' } };
    await ctx.storage.table.insert(row);
    const headers = { large: 'x'.repeat(17000) };
    return {
      method: await told(ctx.storage.blob.presign({ key: 'k', expiresInSeconds: 9, method: 'DELETE' })),
      type: await told(ctx.storage.table.createTable({ name: 'people', schema: { born: 'date' } })),
      row: await told(ctx.storage.table.insert(row)),
      headers: await told(ctx.queueBus.publish({ topic: 't', payload: 1, headers })),
    };`;
  await api.install(asking(body));
  assert.deepEqual((await ran(api)).outputs, {
    method: 'ctx.storage.blob.presign: the argument/method must be one of GET, PUT.',
    type: 'ctx.storage.table.createTable: the argument/schema/born must be one of string, number, boolean, json.',
    row: 'There is a row with the id "r1" already. Change that one, or leave the id out to get a new one.',
    headers: 'The headers have 17012 bytes, and may have 16384. Put large values into the payload.',
  });
  const schedule = { workflowId: 'ask', cron: '* * * * *', missedTicks: 'never' };
  const refused = await api.post('/v1/host/gantry/schedules', schedule);
  assertError(refused, 400, 'validation_error');
  assert.match(refused.body, /body\/missedTicks must be one of [\w-]+, [\w-]+, [\w-]+/);
  assert.doesNotMatch(refused.body, /constant|anyOf/);
});

test('a pack can ask for delayed messages by name', async (t) => {
  const body = `return ctx.queueBus.publish({ topic: 't', payload: 1, delaySeconds: 1 });`;
  const api = await packTest(t);
  await api.install(asking(body, 'host.queueBus.delay'));
  assert.equal((await ran(api)).status, 'completed');
});
