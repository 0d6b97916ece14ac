/** Two hosts on one PostgreSQL database: either serves every run, and killing either loses nothing. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, createClient } from '@gantry/client';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const MASTER_KEY = 'one-key-for-every-process-of-this-database';
const gate = node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const effects = node('act', 'core.conformance.side-effect', { effects: 100, idempotent: true });
/** Not over before another process hears of it and ends it, however busy the machine is. */
const endless = Array.from({ length: 30 }, (_, index) => ({ ...effects, id: `act-${index}` }));
const DEFINITIONS = [
  workflow('endless', endless),
  workflow('long', [node('act', 'core.conformance.side-effect', { effects: 100, idempotent: true })]),
  workflow('delayed', [node('wait', 'core.delay', { delayMs: 700 }), node('after', 'core.noop')]),
  workflow('soon', [node('wait', 'core.delay', { delayMs: 300 }), node('after', 'core.noop')]),
  workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]),
  workflow('effects', [node('act', 'core.conformance.side-effect', { effects: 5, idempotent: true })]),
  workflow('asks', [gate, node('after', 'core.noop')]),
  workflow('busy', [gate, effects], { edges: [] }),
  workflow('parent', [node('child', 'core.subWorkflow', { workflowId: 'asks' })]),
];

const RUNS = 30;
const ACCEPT = { resumeValue: { action: 'accept' } };

interface Process {
  readonly host: HostProcess;
  readonly client: Client;
  call(
    method: string,
    url: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
}

type Start = (name: string, env?: Readonly<Record<string, string>>) => Promise<Process>;

/** Starts processes by name on one fresh database; null when there is no PostgreSQL here. */
async function cluster(t: TestContext): Promise<Start | null> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return null;
  }
  const folder = await temporaryFolder();
  const hosts: HostProcess[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    await database.drop();
    await folder.remove();
  });
  for (const definition of DEFINITIONS)
    await writeFile(path.join(folder.path, `${definition.id}.json`), JSON.stringify(definition));
  return async (name, env = { GANTRY_MASTER_KEY: MASTER_KEY }) => {
    const host = await startHostProcess({
      dataDir: path.join(folder.path, name),
      workflowsDir: folder.path,
      env: { GANTRY_DATABASE_URL: database.url, ...env },
    });
    hosts.push(host);
    return { host, client: createClient({ baseUrl: host.url, apiKey: TEST_KEY }), call: caller(host.url) };
  };
}

const caller =
  (base: string): Process['call'] =>
  async (method, url, body) => {
    const response = await fetch(`${base}${url}`, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

async function cancelsElsewhere(first: Process, second: Process): Promise<void> {
  const { runId } = await first.client.runs.create({ workflowId: 'endless' });
  const seen: string[] = [];
  for await (const event of second.client.runs.events(runId, { streamMode: 'debug' })) {
    seen.push(event.type);
    if (event.type !== 'node.started') continue;
    const cancelled = await second.call('POST', `/v1/runs/${runId}/cancel`, {});
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    assert.equal(cancelled.body.status, 'cancelled');
  }
  assert.equal(seen.at(-1), 'run.cancelled');
}

async function answersElsewhere(first: Process, second: Process): Promise<void> {
  const { runId } = await first.client.runs.create({ workflowId: 'parent' });
  let childRunId = '';
  for await (const event of first.client.runs.events(runId, { streamMode: 'debug' })) {
    if (event.type !== 'node.dispatched') continue;
    childRunId = String(event.payload.childRunId);
    break;
  }
  for await (const event of second.client.runs.events(childRunId, { streamMode: 'debug' }))
    if (event.type === 'interrupt.requested') break;
  const url = `/v1/runs/${childRunId}/interrupts/gate`;
  const [one, two] = await Promise.all([first.call('POST', url, ACCEPT), second.call('POST', url, ACCEPT)]);
  assert.deepEqual([one.status, two.status].sort(), [200, 409]);
  assert.equal((await second.client.runs.wait(runId)).status, 'completed');
}

async function answersOnce(first: Process, second: Process): Promise<void> {
  const { runId } = await first.client.runs.create({ workflowId: 'busy' });
  const answer = (): Promise<Response> =>
    fetch(`${second.host.url}/v1/runs/${runId}/interrupts/gate`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': 'one',
      },
      body: JSON.stringify(ACCEPT),
    });
  const taken = await answer();
  assert.equal(taken.status, 200, await taken.clone().text());
  const again = await answer();
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('openwop-idempotent-replay'), 'true');
  assert.equal((await second.client.runs.wait(runId)).status, 'completed');
}

/** Answers whatever is asked until the run has ended. */
async function settled({ client, call }: Process, runId: string): Promise<string> {
  for (let last = -1; ; ) {
    const { interrupts } = (await call('GET', '/v1/host/gantry/interrupts')).body;
    for (const { runId: asking, nodeId } of interrupts as Question[])
      await call('POST', `/v1/runs/${asking}/interrupts/${nodeId}`, ACCEPT);
    const { isTerminal, runStatus, lastEventSeq } = await client.runs.poll(runId, {
      ...(last >= 0 && { lastSequence: last }),
      timeoutSeconds: 1,
    });
    if (isTerminal) return runStatus;
    last = lastEventSeq;
  }
}

interface Question {
  readonly runId: string;
  readonly nodeId: string;
}

async function killsEither(first: Process, second: Process, start: Start): Promise<Process> {
  const runIds: string[] = [];
  for (const workflowId of ['delayed', 'asks', 'parent', 'long', 'delayed', 'asks', 'parent']) {
    const { client } = runIds.length % 2 === 0 ? first : second;
    runIds.push((await client.runs.create({ workflowId })).runId);
  }
  await first.host.kill();
  const third = await start('third');
  await second.host.kill();
  for (const runId of runIds) assert.equal(await settled(third, runId), 'completed', runId);
  return third;
}

async function finishesForAnother(killed: Process, other: Process): Promise<void> {
  const kinds = ['three', 'soon', 'effects'];
  const runIds: string[] = [];
  for (let i = 0; i < RUNS; i++)
    runIds.push((await killed.client.runs.create({ workflowId: kinds[i % kinds.length]! })).runId);
  await killed.host.kill();
  for (const runId of runIds) {
    assert.equal((await other.client.runs.wait(runId)).status, 'completed');
    const { events } = await other.client.runs.poll(runId);
    assert.deepEqual(
      events.map((event) => event.sequence),
      events.map((_, index) => index),
    );
  }
  assert.equal(await other.host.stop(), 0);
}

test('processes of one database', async (t) => {
  const start = await cluster(t);
  if (!start) return;
  const [first, second] = await Promise.all([start('first'), start('second')]);
  await t.test('a run that one process works on is followed and cancelled through the other', () =>
    cancelsElsewhere(first, second),
  );
  await t.test(
    'a question asked by one process is answered through the other; a child reports across them',
    () => answersElsewhere(first, second),
  );
  await t.test('an answer that another process takes is idempotent by its key all the same', () =>
    answersOnce(first, second),
  );
  await t.test('a process with another master key is refused by name', () =>
    assert.rejects(start('other', {}), /GANTRY_MASTER_KEY/),
  );
  await t.test(
    'killing either process loses nothing: delays, questions, children and effects go on',
    async (t) => {
      const third = await killsEither(first, second, start);
      await t.test('one that is killed leaves its runs to another', async () =>
        finishesForAnother(third, await start('fourth')),
      );
    },
  );
});
