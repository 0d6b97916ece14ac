import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { channelFirings, channelNotes } from './channel-writes.ts';
import { TENANT, type TriggersTest, triggersTest } from './testing/triggers-test.ts';

const MINUTE_MS = 60_000;

const writer = (config: JsonObject, writes = 1): WorkflowDefinition => {
  const nodes = Array.from({ length: writes }, (_, i) =>
    node(`w${i}`, 'core.channelWrite', { channelName: 'notes', value: `note ${i}` }),
  );
  return workflow('writer', nodes, {
    channels: { notes: { reducer: 'append' } },
    triggers: [{ id: 'on-note', type: 'channel-write', config: { channel: 'notes', ...config } }],
    variables: [{ name: 'note', type: 'string' }],
  });
};

async function startRun(rig: TriggersTest, workflowId: string): Promise<string> {
  const run = { inputs: {}, configurable: {}, tags: [], metadata: {}, owner: { tenant: TENANT } };
  const workflow = await rig.resolve(workflowId);
  const result = await rig.runtime.create({ ...run, workflow });
  assert.ok(result.kind === 'created');
  await rig.ended(result.runId);
  await rig.triggers.tick();
  return result.runId;
}

test('a write to a channel starts a run that knows it, and that run starts none', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(writer({ inputMapping: { note: 'value' } }));
  const first = await startRun(rig, 'writer');
  const fired = (await rig.runIds()).filter((runId) => runId !== first);
  assert.equal(fired.length, 1);
  const { run } = await rig.ended(fired[0]!);
  assert.equal(run.facts.triggerData?.runId, first);
  assert.equal(run.variables.note, 'note 0');
  assert.ok(run.facts.causationId?.startsWith(`${first}.`));
  await rig.later(MINUTE_MS);
  assert.equal((await rig.runIds()).length, 2);
  for (const kind of [channelNotes.kind, channelFirings.kind])
    assert.equal(await rig.store.entries.count(kind, TENANT), 0);
});

test('a burst fires once, a while after its last write', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(writer({ debounceMs: 5_000, inputMapping: { note: 'value' } }, 3));
  await startRun(rig, 'writer');
  assert.equal((await rig.runIds()).length, 1);
  await rig.later(5_000);
  const [second, ...rest] = await rig.runIds();
  assert.equal(rest.length, 1);
  assert.equal((await rig.ended(second!)).run.variables.note, 'note 2');
});

test('without a debounce every write fires', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(writer({}, 3));
  await startRun(rig, 'writer');
  assert.equal((await rig.runIds()).length, 4);
});

test('workflows without such triggers leave no notes once that is known', async (t) => {
  const rig = await triggersTest(t);
  await rig.register({ ...writer({}), triggers: [] });
  await startRun(rig, 'writer');
  const facts = (await rig.ended((await rig.runIds())[0]!)).run.facts;
  const events = await rig.store.runs.events(TENANT, facts.runId, 0, 100);
  assert.ok(events.some(({ type }) => type === 'channel.written'));
  assert.deepEqual(rig.outbox.writes(facts, events), []);
  assert.equal((await rig.runIds()).length, 1);
});

test('a trigger that leaves out a required variable is refused when the workflow is registered', async (t) => {
  const rig = await triggersTest(t);
  const needy = { ...writer({}), variables: [{ name: 'note', type: 'string' as const, required: true }] };
  await assert.rejects(rig.register(needy), /requires note, which inputMapping does not set/);
  await assert.rejects(
    rig.register({ ...writer({ inputMapping: { note: 'value' } }), variables: [] }),
    /names note, which is not a variable/,
  );
});
