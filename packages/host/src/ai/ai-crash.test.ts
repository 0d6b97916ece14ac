/**
 * kill -9 between any two steps of model calls to a server: no try is sent twice, every call is told once, what is settled
 * is what was used, and what is in doubt is listed. The long form is `npm run soak -- ai`.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { gemini } from '../../../ai/src/testing/gemini.ts';
import { startModelServer } from '../../../ai/src/testing/model-server.ts';
import { openaiChat } from '../../../ai/src/testing/openai-chat.ts';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { caller, hostPlaces, until } from '../packs/testing/host-lives.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { Ledger } from './ledger.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 1);
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

interface Database {
  readonly env: Readonly<Record<string, string>>;
  open(dataDir: string): Promise<Store>;
}

const DATABASES: Readonly<Record<string, (t: TestContext) => Promise<Database | string>>> = {
  sqlite: async () => ({ env: {}, open: (dataDir) => openSqlite({ dataDir }) }),
  async postgres(t) {
    const database = await freshDatabase();
    if ('skip' in database) return database.skip;
    t.after(database.drop);
    return { env: { GANTRY_DATABASE_URL: database.url }, open: () => openPostgres({ url: database.url }) };
  },
};

/** The same rounds each time: after so many events, and so long after that. */
const blowOf = (round: number) => ({ events: 2 + ((round * 7) % 22), afterMs: (round * 5) % 9 });

const ofType = (events: readonly RunEventDoc[], type: string): JsonObject[] =>
  events.filter((event) => event.type === type).map(({ payload }) => payload);

/** Holds of the log of every run. */
function assertSound(round: number, events: readonly RunEventDoc[]): number {
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
  return usages.reduce((sum, { totalTokens }) => sum + Number(totalTokens), 0);
}

async function killInRounds(t: TestContext, database: Database): Promise<void> {
  const server = await startModelServer(openaiChat);
  t.after(() => server.close());
  const places = await hostPlaces(t, { GANTRY_PACK_TIMEOUT_SECONDS: '250', ...database.env });
  const file = `${places.workflowsDir}/../ai.json`;
  const price = { input: 3, output: 15 };
  const endpoints = [{ id: 'lab', url: server.baseUrl, models: ['small'], price }];
  await writeFile(file, JSON.stringify({ endpoints }));
  const begin = () => startHostProcess({ ...places, env: { ...places.env, GANTRY_AI: file } });
  let host: HostProcess = await begin();
  t.after(() => host.kill());
  const pack = { nodes: { [TYPE]: { body: BODY, role: 'side-effect' } } };
  await caller(host.url).install([pack], [workflow('asks', [node('a', TYPE)])]);
  server.play('small', Array(ROUNDS * CALLS * 4).fill(turn));
  const configurable = { ai: { provider: 'lab', model: 'small' } };
  const spent = new Map<string, { readonly used: number; readonly served: number }>();
  for (let round = 0; round < ROUNDS; round++) {
    const { events: count, afterMs } = blowOf(round);
    const before = server.requests.length;
    const body = JSON.stringify({ workflowId: 'asks', configurable });
    const runId = String((await caller(host.url).send('/v1/runs', body)).runId);
    await until(caller(host.url).poll(runId), (events, ended) => ended || events.length >= count);
    await delay(afterMs);
    await host.kill();
    host = await begin();
    const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
    const served = (server.requests.length - before) * TOKENS;
    spent.set(runId, { used: assertSound(round, events), served });
  }
  for (const [key, count] of server.counts) assert.equal(count, 1, `${key} was sent ${count} times`);
  await host.stop();
  const store = await database.open(places.dataDir);
  t.after(() => store.close());
  const ledger = new Ledger(store);
  for (const [runId, { used, served }] of spent) {
    const held = await ledger.held('default', runId);
    const inDoubt = held.reduce((sum, { tokens }) => sum + tokens, 0);
    const { tokens, cost } = await ledger.ofRun('default', runId);
    assert.equal(tokens, used + inDoubt, runId);
    assert.ok(tokens >= served, `${runId}: ${tokens} are counted and ${served} were served`);
    const costInDoubt = held.reduce((sum, each) => sum + each.cost, 0);
    assert.equal(cost, CALLS * (11 * 3_000 + 6 * 15_000) + costInDoubt, runId);
    assert.ok(held.length <= 1, `${runId}: one kill leaves at most one call in doubt`);
  }
}

for (const [kind, open] of Object.entries(DATABASES))
  test(`kill -9 in ${ROUNDS} rounds on ${kind}`, async (t) => {
    const database = await open(t);
    if (typeof database === 'string') return t.skip(database);
    await killInRounds(t, database);
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
