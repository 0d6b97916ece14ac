/** What nodes are told about the trust of their run, from every way in which content from outside reaches one. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { assertPublic } from '../api/testing/api-test.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import type { Settings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';

const SEE = 'vendor.acme.see';
const START = Date.parse('2027-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const ACCEPT = { resumeValue: { action: 'accept' } };

const see = (id = 'see') => node(id, SEE);
const gate = (id = 'gate') =>
  node(id, 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const notes = (config: JsonObject = {}) => ({
  channels: { notes: { reducer: 'append' as const } },
  triggers: [{ id: 'on-note', type: 'channel-write' as const, config: { channel: 'notes', ...config } }],
});
const write = node('write', 'core.channelWrite', { channelName: 'notes', value: 'n' });

const DEFINITIONS = [
  workflow('leaf', [see()]),
  workflow('asks', [see('before'), gate(), see('after')]),
  workflow('votes', [
    node('gate', 'core.approvalGate', {
      title: 'Go on?',
      requiredApprovals: 2,
      approversList: ['ada', 'bob'],
    }),
    see('after'),
  ]),
  workflow('parent', [node('child', 'core.subWorkflow', { workflowId: 'asks' }), see('after')]),
  workflow('writes', [see(), write], notes()),
  workflow('asks-writes', [gate(), write, see('after')], notes()),
  workflow('looks', [
    node(
      'look',
      'core.identity',
      {},
      {
        inputs: { state: { type: 'static', value: { n: 1 } }, enqueue: { type: 'static', value: true } },
      },
    ),
  ]),
];

interface Rig extends PackTest {
  readonly clock: { at: number };
  /** What the nodes of the run saw, by node. */
  seen(runId: string): Promise<JsonObject>;
  answered(runId: string, by: 'key' | 'token' | 'link'): Promise<void>;
  runsOf(workflowId: string): Promise<string[]>;
  events(runId: string): Promise<RunEventDoc[]>;
}

async function rigOf(t: TestContext, settings: Partial<Settings>): Promise<Rig> {
  const clock = { at: START };
  const api = await packTest(t, { settings, now: () => clock.at });
  const bare = (url: string, payload: object) =>
    api.host.app.inject({ method: 'POST', url: new URL(url, 'http://h').pathname, payload });
  const events: Rig['events'] = async (runId) =>
    (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json().events;
  return {
    ...api,
    clock,
    events,
    async seen(runId) {
      await api.ended(runId);
      const done = (await events(runId)).filter(
        ({ type, payload }) => type === 'node.completed' && Object(payload.outputs).trust !== undefined,
      );
      return Object.fromEntries(done.map(({ nodeId, payload }) => [nodeId, Object(payload.outputs).trust]));
    },
    async answered(runId, by) {
      await api.asks(runId, 'gate');
      const answer = {
        key: () => api.post(`/v1/runs/${runId}/interrupts/gate`, ACCEPT),
        async token() {
          const { interrupt } = (await api.get(`/v1/runs/${runId}`)).json();
          return bare(`/v1/interrupts/${interrupt.interruptToken}`, ACCEPT);
        },
        async link() {
          const person = { person: 'ada' };
          const made = await api.post(`/v1/host/gantry/runs/${runId}/interrupts/gate/links`, person);
          return bare(made.json().url, ACCEPT);
        },
      };
      const response = await answer[by]();
      assert.equal(response.statusCode, 200, response.body);
    },
    async runsOf(workflowId) {
      const { runs } = (await api.get(`/v1/runs?workflowId=${workflowId}`)).json();
      return runs.map(({ runId }: { runId: string }) => runId);
    },
  };
}

async function prepared(rig: Rig): Promise<Rig> {
  await rig.install({ nodes: { [SEE]: { body: 'return { trust: ctx.trustBoundary };' } } });
  for (const definition of DEFINITIONS) await rig.registered(definition);
  return rig;
}

onEachDatabase(
  'an answer without a key makes the run untrusted from then on, and what comes from it',
  async (t, settings) => {
    const rig = await prepared(await rigOf(t, settings));
    for (const by of ['key', 'token', 'link'] as const) {
      const after = by === 'key' ? 'trusted' : 'untrusted';
      const runId = await rig.start('asks');
      await rig.answered(runId, by);
      assert.deepEqual(await rig.seen(runId), { before: 'trusted', after }, by);
      for (const event of await rig.events(runId)) {
        assertPublic('run-event.schema.json', event);
        const isAnswer = event.type === 'interrupt.resolved' || event.type === 'approval.received';
        if (isAnswer) assert.equal(event.contentTrust, by === 'key' ? undefined : 'untrusted');
      }
      const forked = async (body: object): Promise<string> =>
        (await rig.post(`/v1/runs/${runId}:fork`, body)).json().runId;
      const replay = await rig.get(`/v1/runs/${await forked({ mode: 'replay' })}`);
      assert.equal(replay.json().status, 'completed');
      const last = (await rig.events(runId)).findLast(({ type }) => type === 'node.started')!.sequence;
      const branch = await forked({ mode: 'branch', fromSeq: last });
      assert.deepEqual(await rig.seen(branch), { before: 'trusted', after }, `branch, ${by}`);
      const again = (await rig.post(`/v1/host/gantry/runs/${runId}:again`, {})).json().runId;
      await rig.answered(again, 'key');
      assert.deepEqual(await rig.seen(again), { before: after, after }, `again, ${by}`);
    }
  },
);

onEachDatabase(
  'a vote by link is enough, and a parent is untrusted once its child is',
  async (t, settings) => {
    const rig = await prepared(await rigOf(t, settings));
    const votes = await rig.start('votes');
    await rig.answered(votes, 'link');
    const person = { person: 'bob' };
    const made = await rig.post(`/v1/host/gantry/runs/${votes}/interrupts/gate/links`, person);
    await rig.host.app.inject({ method: 'POST', url: new URL(made.json().url).pathname, payload: ACCEPT });
    assert.deepEqual(await rig.seen(votes), { after: 'untrusted' });
    for (const [by, after] of [
      ['key', 'trusted'],
      ['link', 'untrusted'],
    ] as const) {
      const parent = await rig.start('parent');
      const [child] = await childrenOf(rig, parent);
      await rig.answered(child!, by);
      assert.deepEqual(await rig.seen(parent), { after }, by);
    }
  },
);

onEachDatabase('the mark survives a restart', async (t, settings) => {
  const first = await prepared(await rigOf(t, settings));
  const runId = await first.start('votes');
  await first.answered(runId, 'link');
  await first.host.stop();
  const next = await rigOf(t, settings);
  const person = { person: 'bob' };
  const made = await next.post(`/v1/host/gantry/runs/${runId}/interrupts/gate/links`, person);
  const sent = { url: new URL(made.json().url).pathname, payload: ACCEPT };
  assert.equal((await next.host.app.inject({ method: 'POST', ...sent })).statusCode, 200);
  assert.deepEqual(await next.seen(runId), { after: 'untrusted' });
});

onEachDatabase(
  'schedules, heartbeats and channels are trusted, unless the writing run is not',
  async (t, settings) => {
    const rig = await prepared(await rigOf(t, settings));
    const { services } = rig.host;
    await rig.post('/v1/host/gantry/schedules', { workflowId: 'leaf', delayMs: 1_000 });
    const enqueue = { workflowId: 'leaf', inputs: {} };
    const beat = { workflowId: 'looks', intervalSec: HOUR_MS / 1_000, enqueue };
    const heartbeat = await rig.post('/v1/host/gantry/heartbeats', beat);
    assert.equal(heartbeat.statusCode, 201, heartbeat.body);
    rig.clock.at += HOUR_MS;
    await services.schedules.tick();
    await services.heartbeats.tick();
    const { heartbeatId } = heartbeat.json();
    for (let isSettled = false; !isSettled; ) {
      const { evaluatingRunId } = (await rig.get(`/v1/host/gantry/heartbeats/${heartbeatId}`)).json();
      if (evaluatingRunId !== undefined) await rig.ended(evaluatingRunId);
      isSettled = evaluatingRunId === undefined;
    }
    const leaves = await rig.runsOf('leaf');
    assert.equal(leaves.length, 2);
    for (const runId of leaves) assert.deepEqual(await rig.seen(runId), { see: 'trusted' });

    const writer = await rig.start('writes');
    await rig.ended(writer);
    await services.triggers.tick();
    const fired = (await rig.runsOf('writes')).find((runId) => runId !== writer);
    assert.deepEqual(await rig.seen(fired!), { see: 'trusted' });
    const asks = await rig.start('asks-writes');
    await rig.answered(asks, 'link');
    await rig.ended(asks);
    await services.triggers.tick();
    const second = (await rig.runsOf('asks-writes')).find((runId) => runId !== asks);
    await rig.answered(second!, 'key');
    assert.deepEqual(await rig.seen(second!), { after: 'untrusted' });
  },
);

async function childrenOf(rig: Rig, runId: string): Promise<string[]> {
  for (;;) {
    const { childRuns = [] } = (await rig.get(`/v1/runs/${runId}`)).json();
    if (childRuns.length > 0) return childRuns.map((child: JsonObject) => child.childRunId ?? child.runId);
    await rig.get(`/v1/runs/${runId}/events/poll?timeout=1&lastSequence=3`);
  }
}
