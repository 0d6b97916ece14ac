/**
 * kill -9 between any two steps of model calls to a server: no try is sent twice, every call is told once, what is settled
 * is what was used, what is in doubt is listed, and nothing of it outlives its run. The long form is `npm run soak -- ai`.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc, RunUsage } from '@gantry/protocol';
import { gemini } from '../../../ai/src/testing/gemini.ts';
import { type ModelServer, type Step, startModelServer } from '../../../ai/src/testing/model-server.ts';
import { openaiChat } from '../../../ai/src/testing/openai-chat.ts';
import { caller, hostPlaces, until } from '../packs/testing/host-lives.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { type Calls, DATABASES, type Database, killInRounds, ROUNDS } from '../testing/kill-rounds.ts';
import { typesOf } from '../testing/run-events.ts';
import { Ledger } from './ledger.ts';

const CALLS = 3;
const TYPE = 'vendor.acme.ask';
const TEXT = 'one two three four five six';
const BODY = `
  const said = [];
  for (let call = 0; call < ${CALLS}; call++)
    said.push((await ctx.callAI({ messages: [{ role: 'user', content: 'call ' + call }], maxTokens: 50 })).text);
  return { said };`;
const turn = { text: TEXT, delayMs: 4, usage: { inputTokens: 11, outputTokens: 6 } };
const TOKENS = 17;
const COST_USD = (11 * 3 + 6 * 15) / 1_000_000;
const PRICE = { input: 3, output: 15 };
/** So many runs are replayed at the end. */
const REPLAYS_MAX = 20;

/** When the host dies: so long after a step of a request that the server sees, or after so many events of the run. */
type Blow = { readonly afterMs: number } & (
  | { readonly call: number; readonly step: Step }
  | { readonly events: number }
);

const STEPS: readonly Step[] = ['asked', 'half', 'answered'];

/** The same rounds each time; a failure names its round. */
function blowOf(round: number): Blow {
  const afterMs = (round * 5) % 9;
  if (round % 2 === 1) return { events: 2 + ((round * 7) % 22), afterMs };
  const place = (round / 2) % (CALLS * STEPS.length);
  return {
    call: place % CALLS,
    step: STEPS[Math.floor(place / CALLS)]!,
    afterMs: round % 4 === 0 ? 0 : afterMs,
  };
}

/** Resolves at the moment of the blow. */
async function struckBy(blow: Blow, server: ModelServer, calls: Calls, runId: () => Promise<string>) {
  if ('events' in blow) {
    await until(calls.poll(await runId()), (events, ended) => ended || events.length >= blow.events);
  } else {
    const reached = Promise.withResolvers<void>();
    const first = server.requests.length;
    server.onStep = (step) => {
      if (step === blow.step && server.requests.length - first === blow.call + 1) reached.resolve();
    };
    await reached.promise;
    server.onStep = undefined;
  }
  await delay(blow.afterMs);
}

const ofType = (events: readonly RunEventDoc[], type: string): JsonObject[] =>
  events.filter((event) => event.type === type).map(({ payload }) => payload);

/** Holds of the log of every run. */
function assertSound(round: number, events: readonly RunEventDoc[]): void {
  const last = events.at(-1)!;
  assert.equal(last.type, 'run.completed', `round ${round}: ${JSON.stringify(last)}`);
  assert.deepEqual((last.payload.outputs as JsonObject).said, Array(CALLS).fill(TEXT));
  const usages = ofType(events, 'provider.usage');
  assert.equal(usages.length, CALLS, `round ${round}: a call is told twice, or not at all`);
  const channels = Map.groupBy(ofType(events, 'output.chunk'), ({ channel }) => channel);
  const whole = [...channels.values()].filter((told) => told.map(({ chunk }) => chunk).join('') === TEXT);
  assert.ok(whole.length >= CALLS, `round ${round}: text of an answer is missing`);
  for (const [channel, told] of channels)
    assert.deepEqual(
      told.flatMap(({ isLast }, at) => (isLast ? [at] : [])),
      [told.length - 1],
      `round ${round}: ${channel} is not closed once, at its end`,
    );
}

interface Ended {
  readonly runId: string;
  readonly events: readonly RunEventDoc[];
  /** Requests that the server got for it. */
  readonly asked: number;
}

/** What the ledger says is what was recorded, and what is in doubt; it is never below what the server served. */
async function assertPaid(calls: Calls, { runId, asked }: Ended): Promise<number> {
  const used: RunUsage = await calls.read(`/v1/host/gantry/runs/${runId}/usage`);
  const inDoubt = used.inDoubt.reduce((sum, { tokens }) => sum + tokens, 0);
  const costInDoubt = used.inDoubt.reduce((sum, { costUsd }) => sum + costUsd, 0);
  assert.equal(used.family.tokens, CALLS * TOKENS + inDoubt, runId);
  assert.equal(used.family.costUsd.toFixed(9), (CALLS * COST_USD + costInDoubt).toFixed(9), runId);
  assert.ok(
    used.family.tokens >= asked * TOKENS,
    `${runId}: ${used.family.tokens} are counted, ${asked} calls were served`,
  );
  // More where it died between the claim and the request
  assert.ok(
    used.inDoubt.length >= asked - CALLS,
    `${runId}: ${asked} requests, ${CALLS} records, ${used.inDoubt.length} in doubt`,
  );
  assert.ok(used.inDoubt.every(({ invocationId }) => invocationId !== ''));
  return used.inDoubt.length;
}

async function assertReplayed(calls: Calls, { runId, events }: Ended): Promise<void> {
  const body = JSON.stringify({ mode: 'replay', fromSeq: 0 });
  const fork = await calls.send(`/v1/runs/${runId}:fork`, body);
  const replayed = await until(calls.poll(fork.runId), (_, ended) => ended);
  assert.deepEqual(typesOf(replayed), typesOf(events), runId);
  assert.deepEqual(ofType(replayed, 'output.chunk').map(shown), ofType(events, 'output.chunk').map(shown));
}
const shown = ({ chunk, isLast }: JsonObject) => ({ chunk, isLast });

async function killCalls(t: TestContext, database: Database): Promise<void> {
  const server = await startModelServer(openaiChat);
  t.after(() => server.close());
  server.play('small', Array(ROUNDS * CALLS * 4).fill(turn));
  const ended: Ended[] = [];
  let before = 0;
  await killInRounds(t, database, {
    async settings({ workflowsDir }) {
      const file = `${workflowsDir}/../ai.json`;
      const endpoints = [{ id: 'lab', url: server.baseUrl, models: ['small'], price: PRICE }];
      await writeFile(file, JSON.stringify({ endpoints }));
      return { GANTRY_AI: file };
    },
    install: (calls) =>
      calls.install(
        [{ nodes: { [TYPE]: { body: BODY, role: 'side-effect' } } }],
        [workflow('asks', [node('a', TYPE)])],
      ),
    async start(round, calls) {
      before = server.requests.length;
      const created = Promise.withResolvers<string>();
      const struck = struckBy(blowOf(round), server, calls, () => created.promise);
      const configurable = { ai: { provider: 'lab', model: 'small' } };
      const { runId } = await calls.send('/v1/runs', JSON.stringify({ workflowId: 'asks', configurable }));
      created.resolve(String(runId));
      return { runId: String(runId), struck };
    },
    sound(round, runId, events) {
      assertSound(round, events);
      ended.push({ runId, events, asked: server.requests.length - before });
    },
    async after(calls) {
      let inDoubt = 0;
      for (const run of ended) inDoubt += await assertPaid(calls, run);
      for (const [key, count] of server.counts) assert.equal(count, 1, `${key} was sent ${count} times`);
      const asked = server.requests.length;
      for (const run of ended.slice(-REPLAYS_MAX)) await assertReplayed(calls, run);
      assert.equal(server.requests.length, asked, 'a replay asks nobody');
      t.diagnostic(`${ended.length} runs, ${asked} requests, ${inDoubt} in doubt`);
      for (const { runId } of ended) await calls.remove(`/v1/host/gantry/runs/${runId}`);
    },
    async kept(store) {
      const ledger = new Ledger(store);
      for (const { runId } of ended) {
        assert.deepEqual(
          await ledger.held('default', runId),
          [],
          `${runId}: what is in doubt outlives its run`,
        );
        assert.deepEqual(await ledger.ofRun('default', runId), { tokens: 0, cost: 0 });
      }
    },
  });
}

for (const [kind, open] of Object.entries(DATABASES))
  test(`kill -9 in ${ROUNDS} rounds on ${kind}`, async (t) => {
    const database = await open(t);
    if (typeof database === 'string') return t.skip(database);
    await killCalls(t, database);
  });

/** What the log and the server say is the same whichever database holds it. */
test('kill -9 while a video is made: it is begun once, and the next process waits for it', async (t) => {
  const server = await startModelServer(gemini);
  t.after(() => server.close());
  const places = await hostPlaces(t, {});
  const file = `${places.workflowsDir}/../ai.json`;
  await writeFile(file, JSON.stringify({ endpoints: [{ id: 'gemini', url: server.baseUrl }] }));
  const env = { ...places.env, GANTRY_AI: file, GEMINI_API_KEY: 'gm-canary-0003' };
  const begin = () => startHostProcess({ ...places, env });
  let host: HostProcess = await begin();
  t.after(() => host.kill());
  const body = `return (await ctx.callVideoGenerator({ provider: 'gemini', prompt: 'waves' })).video;`;
  const pack = { nodes: { [TYPE]: { body, role: 'side-effect' } } };
  await caller(host.url).install([pack], [workflow('films', [node('a', TYPE)])]);
  server.media.pending = Number.POSITIVE_INFINITY;
  const started = await caller(host.url).send('/v1/runs', JSON.stringify({ workflowId: 'films' }));
  const runId = String(started.runId);
  const polls = () => server.requests.filter(({ path }) => path.includes('/operations/')).length;
  while (polls() < 1) await server.asked();
  await host.kill();
  server.media.pending = 0;
  host = await begin();
  const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
  const last = events.at(-1)!;
  assert.equal(last.type, 'run.completed', JSON.stringify(last));
  assert.equal(server.requests.filter(({ path }) => path.endsWith(':predictLongRunning')).length, 1);
  assert.equal(ofType(events, 'provider.usage').length, 1);
});
