/** Nodes during which the host ends uncleanly, again and again. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess } from '../testing/host-process.ts';
import { caller, hostPlaces, until } from './testing/host-lives.ts';

/** Until the test has said so often that this node goes on. */
const wait = (id: string, times: string) => `
  await ctx.emit({ type: 'acting' });
  while (((await ctx.storage.kv.get({ key: 'go-${id}' })).value ?? 0) < ${times})
    await new Promise((done) => setTimeout(done, 100));`;
const increment = (key: string) => `await ctx.storage.kv.atomicIncrement({ key: '${key}' });`;
const STEPS = 4;
const WAITING = {
  look: `${wait('look', '1')} return { done: true };`,
  /** Its one call is on record after the first life. */
  once: `${increment('calls')} ${wait('once', '1')} return {};`,
  steps: `for (let step = 1; step < ${STEPS}; step++) { ${increment('steps')} ${wait('steps', 'step')} } return {};`,
};
const goes = Object.keys(WAITING).map((id) => [`go-${id}`, `${increment(`go-${id}`)} return {};`]);
const BODIES: Readonly<Record<string, string>> = { ...WAITING, ...Object.fromEntries(goes) };
const PACK = {
  name: 'vendor.acme.steps',
  nodes: Object.fromEntries(
    Object.entries(BODIES).map(([id, body]) => [
      `vendor.acme.${id}`,
      { body, role: id === 'look' ? 'pure' : 'side-effect' },
    ]),
  ),
};
const flows = Object.keys(BODIES).map((id) => workflow(id, [node('a', `vendor.acme.${id}`)]));
/** The nodes wait for the test, on a machine that may be busy. */
const settings = (ends: number) => ({
  GANTRY_PACK_TIMEOUT_SECONDS: '250',
  GANTRY_POISON_ENDS: String(ends),
});

const acts = (events: readonly RunEventDoc[]): number =>
  events.filter(({ payload }) => payload.message === 'acting').length;

const outcomeOf = (events: readonly RunEventDoc[]): unknown[] => {
  const last = events.at(-1)!;
  return [last.type, (last.payload.error as JsonObject | undefined)?.code, acts(events)];
};

/** A host on SQLite that is killed and started anew. */
async function openHost(t: TestContext, ends: number) {
  const places = await hostPlaces(t, settings(ends));
  let host = await startHostProcess(places);
  t.after(() => host.stop());
  await caller(host.url).install([PACK], flows);
  return {
    api: () => caller(host.url),
    async killAndRestart(): Promise<void> {
      await host.kill();
      host = await startHostProcess(places);
    },
  };
}

/** Each run is a dead letter, and its retry is an execution like any other. */
async function retries(api: ReturnType<typeof caller>, runIds: Readonly<Record<string, string>>) {
  const letters = new Map((await api.deadLetters()).map((letter) => [letter.runId, letter]));
  assert.deepEqual([...letters.keys()].sort(), Object.values(runIds).sort());
  for (const [id, runId] of Object.entries(runIds)) {
    const { reason, deadLetterId } = letters.get(runId)!;
    assert.equal(reason, 'invocation_poisoned');
    await api.start(`go-${id}`);
    const retry = await api.send(`/v1/host/gantry/dead-letters/${deadLetterId}:retry`, '{}');
    assert.equal(retry.sourceRunId, runId);
    const events = await until(api.poll(retry.runId), (_, ended) => ended);
    assert.deepEqual(outcomeOf(events), ['run.completed', undefined, 1]);
  }
  assert.deepEqual(await api.deadLetters(), []);
}

test('a host that is killed again and again', async (t) => {
  const host = await openHost(t, 2);
  const [look, once, steps] = [
    await host.api().start('look'),
    await host.api().start('once'),
    await host.api().start('steps'),
  ];
  const acted = (runId: string, times: number) =>
    until(host.api().poll(runId), (events) => acts(events) === times);
  for (let seen = 0, step = 1; step < STEPS; step++) {
    if (step <= 2) for (const runId of [look, once]) await acted(runId, step);
    // Those of the lives before are made again
    seen += step;
    await acted(steps, seen);
    await host.killAndRestart();
    await host.api().start('go-steps');
  }
  await t.test(
    'what was in flight at each of two ends is not started any more, and can be retried',
    async () => {
      for (const runId of [look, once]) {
        const events = await until(host.api().poll(runId), (_, ended) => ended);
        assert.deepEqual(outcomeOf(events), ['run.failed', 'invocation_poisoned', 2]);
      }
      await retries(host.api(), { look, once });
    },
  );
  await t.test('a node whose calls go on record in each life is not poisoned', async () => {
    const events = await until(host.api().poll(steps), (_, ended) => ended);
    assert.equal(events.at(-1)?.type, 'run.completed');
  });
});

test('on PostgreSQL the process that takes a run over counts', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  t.after(database.drop);
  // A run is taken over when its lease has expired, which takes 15 s
  const endsMax = process.env.GANTRY_SOAK_ROUNDS ? 2 : 1;
  const env = { ...settings(endsMax), GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'm'.repeat(64) };
  const places = await hostPlaces(t, env);
  const start = (number: number) => startHostProcess({ ...places, dataDir: `${places.dataDir}${number}` });
  let host = await start(0);
  t.after(() => host.kill());
  await caller(host.url).install([PACK], flows);
  const runId = await caller(host.url).start('look');
  for (let ends = 1; ends <= endsMax; ends++) {
    const next = await start(ends);
    await until(caller(host.url).poll(runId), (events) => acts(events) === ends);
    await host.kill();
    host = next;
  }
  const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
  assert.deepEqual(outcomeOf(events), ['run.failed', 'invocation_poisoned', endsMax]);
  await retries(caller(host.url), { look: runId });
});
