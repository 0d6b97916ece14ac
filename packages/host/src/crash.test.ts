/** Kills the host at random moments under load and proves that nothing accepted is lost or doubled. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, createClient } from '@gantry/client';
import type { RunEventDoc } from '@gantry/protocol';
import { freePort } from '../../surfaces/src/testing/servers.ts';
import { node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';
import { DATABASES, type Database } from './testing/kill-rounds.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 2);
const SEED = Number(process.env.GANTRY_CRASH_SEED ?? Date.now() % 1_000_000);
const CREATORS = 8;
/** Every run is read at the end. */
const ANSWERS_MAX = process.env.GANTRY_SOAK_ROUNDS ? 450 : 80;

const note = (id: string, text: string) => {
  const inputs = { text: { type: 'static', value: text } } as const;
  return node(id, 'core.identity', {}, { artifactType: 'vendor.acme.note', inputs });
};

const DEFINITIONS = [
  workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]),
  workflow('delayed', [node('wait', 'core.delay', { delayMs: 40 }), node('after', 'core.noop')]),
  workflow('effects', [
    node('once', 'core.conformance.side-effect', { effects: 2 }),
    node('again', 'core.conformance.side-effect', { idempotent: true }),
  ]),
  workflow('noted', [
    note('small', 'x'),
    node('wait', 'core.delay', { delayMs: 20 }),
    note('large', 'y'.repeat(100_000)),
    node('end', 'core.conformance.side-effect', { idempotent: true }),
  ]),
];

/** Small seeded generator, so that a failure can be run again. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function createRun(url: string, workflowId: string): Promise<string> {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflowId }),
  });
  assert.equal(response.status, 201);
  const body: unknown = await response.json();
  assert.ok(typeof body === 'object' && body !== null && 'runId' in body && typeof body.runId === 'string');
  return body.runId;
}

type Logged = Pick<RunEventDoc, 'sequence' | 'type'>;

function checkLog(runId: string, events: readonly Logged[]): void {
  assert.deepEqual(
    events.map((event) => event.sequence),
    events.map((_, index) => index),
    `run ${runId}: sequences are dense`,
  );
  const terminal = events.filter((event) => /^run\.(completed|failed|cancelled)$/.test(event.type));
  assert.equal(terminal.length, 1, `run ${runId}: exactly one terminal event`);
  assert.equal(terminal[0], events.at(-1), `run ${runId}: the terminal event is last`);
}

/** What the log tells of is stored, and nothing else is. */
async function checkArtifacts(client: Client, runId: string, events: readonly RunEventDoc[]): Promise<void> {
  const told = events
    .filter(({ type }) => type === 'artifact.created')
    .map(({ payload }) => payload.artifactId);
  if (told.length === 0) return;
  const { artifacts } = await client.artifacts.list(runId);
  assert.deepEqual(artifacts.map(({ artifactId }) => artifactId).sort(), told.sort(), runId);
  for (const { artifactId, bytes } of artifacts) {
    const { content } = await client.artifacts.get(runId, artifactId);
    assert.equal(JSON.stringify(content).length, bytes, `${runId}: ${artifactId} is stored whole`);
  }
}

async function checkEffects(file: string, logs: readonly RunEventDoc[][]): Promise<void> {
  const lines = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const seen = new Set<string>();
  for (const line of lines) {
    if (line.nodeId !== 'once') continue;
    assert.ok(!seen.has(line.invocationId), `effect ${line.invocationId} happened twice`);
    seen.add(line.invocationId);
  }
  for (const log of logs) {
    if (!log.some((event) => event.type === 'node.completed' && event.nodeId === 'once')) continue;
    const runId = log[0]!.runId;
    assert.equal(lines.filter((line) => line.runId === runId && line.nodeId === 'once').length, 2);
  }
}

async function killUnderLoad(t: TestContext, { env }: Database): Promise<void> {
  const next = random(SEED);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const workflowsDir = folder.path;
  for (const definition of DEFINITIONS) {
    await writeFile(path.join(workflowsDir, `${definition.id}.json`), JSON.stringify(definition));
  }
  const dataDir = path.join(folder.path, 'data');
  const port = await freePort();
  const start = () => startHostProcess({ dataDir, workflowsDir, port, env });
  // On PostgreSQL starts take seconds, and the host then lives for less than one: many tries find nobody
  const reconnect = { attemptsMax: 100 };
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: TEST_KEY, reconnect });
  const accepted: string[] = [];
  const followed = new Map<string, Promise<Logged[]>>();

  const follow = async (runId: string): Promise<Logged[]> => {
    const events: Logged[] = [];
    for await (const event of client.runs.events(runId, { streamMode: 'debug' })) events.push(event);
    return events;
  };

  for (let round = 0; round < ROUNDS; round++) {
    const host = await start();
    const killAtAnswer = round % 2 === 1;
    const quota = 50 + Math.floor(next() * (ANSWERS_MAX - 50));
    let killed: Promise<void> | undefined;
    let answered = 0;
    const creator = async (): Promise<void> => {
      while (!killed) {
        const workflowId = DEFINITIONS[Math.floor(next() * DEFINITIONS.length)]!.id;
        try {
          const runId = await createRun(host.url, workflowId);
          if (killAtAnswer && ++answered >= quota) killed ??= host.kill();
          accepted.push(runId);
          if (followed.size < 40 && next() < 0.2) followed.set(runId, follow(runId));
        } catch (error) {
          if (!killed) throw error;
        }
      }
    };
    const timer = killAtAnswer ? undefined : setTimeout(() => (killed = host.kill()), 100 + next() * 500);
    await Promise.all(Array.from({ length: CREATORS }, creator));
    clearTimeout(timer);
    await killed;
  }

  const host = await start();
  const logs: RunEventDoc[][] = [];
  for (const runId of accepted) {
    const { status } = await client.runs.wait(runId);
    const { events } = await client.runs.poll(runId);
    checkLog(runId, events);
    await checkArtifacts(client, runId, events);
    logs.push(events);
    if (status === 'completed') continue;
    const failure = events.at(-1)?.payload.error;
    assert.match(JSON.stringify(failure), /effect_in_doubt/, `run ${runId} ended ${status}`);
  }
  for (const [runId, events] of followed) checkLog(runId, await events);
  await checkEffects(path.join(dataDir, 'side-effects.log'), logs);
  assert.equal(await host.stop(), 0);
  t.diagnostic(`${accepted.length} runs accepted, ${followed.size} followed over restarts`);
}

/** What commits is the same code on both: the long form looks at both. */
const KINDS = process.env.GANTRY_SOAK_ROUNDS ? Object.keys(DATABASES) : ['sqlite'];

for (const kind of KINDS)
  test(`kill -9 under load on ${kind} loses nothing and doubles nothing (seed ${SEED}, ${ROUNDS} rounds)`, async (t) => {
    const database = await DATABASES[kind]!(t);
    if (typeof database === 'string') return t.skip(database);
    await killUnderLoad(t, database);
  });
