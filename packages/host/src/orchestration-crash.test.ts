/**
 * Kills the host amid questions, children, joins and cascades. An answer that was accepted is never lost, a
 * question is never asked twice under one key, and no child is left behind by its parent.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc, WorkflowDefinition } from '@gantry/protocol';
import { freePort } from '../../surfaces/src/testing/servers.ts';
import { edge, node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 2);
const RUNS_PER_ROUND = 24;
const PORT = await freePort();
const URL_BASE = `http://127.0.0.1:${PORT}`;

const gate = (id: string) =>
  node(id, 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const child = (id: string, workflowId: string) => node(id, 'core.subWorkflow', { workflowId });

/** The conformance id lets the supervisor follow a plan. */
const fanOut = (id: string, joinPolicy: JsonObject): WorkflowDefinition =>
  workflow(
    `conformance-${id}`,
    [
      node('supervisor', 'core.orchestrator.supervisor', {
        mockDispatchPlan: [
          { kind: 'next-worker', nextWorkerIds: ['worker-now', 'worker-soon', 'worker-asks'] },
          { kind: 'terminate', reason: 'done' },
        ],
      }),
      node('dispatch', 'core.dispatch', { fanOutPolicy: 'parallel', maxConcurrency: 2, joinPolicy }),
    ],
    { edges: [edge('supervisor', 'dispatch'), edge('dispatch', 'supervisor')] },
  );

const DEFINITIONS = [
  workflow('asks', [gate('gate'), node('after', 'core.noop')]),
  workflow('worker-now', [node('a', 'core.noop')]),
  workflow('worker-soon', [node('wait', 'core.delay', { delayMs: 30 })]),
  workflow('worker-asks', [gate('gate')]),
  workflow('parent', [child('first', 'worker-soon'), child('second', 'worker-asks')]),
  fanOut('wait-all', { mode: 'wait-all' }),
  fanOut('quorum', { mode: 'quorum', quorum: 2 }),
];
const STARTED = ['asks', 'parent', 'conformance-wait-all', 'conformance-quorum'];

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(method: string, url: string, body?: object): Promise<Answer> {
  const response = await fetch(`${URL_BASE}${url}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const eventsOf = async (runId: string): Promise<RunEventDoc[]> =>
  (await call('GET', `/v1/runs/${runId}/events/poll?timeout=1`)).body.events as RunEventDoc[];

const isOver = (status: unknown): boolean => /^(completed|failed|cancelled)$/.test(String(status));

interface Seen {
  readonly started: Set<string>;
  /** Questions whose answer got a 200. */
  readonly answered: Set<string>;
  readonly cancelled: Set<string>;
}

/** Starts, answers and cancels until the host is gone; `underWay` when there is one run of each kind. */
async function load(seen: Seen, isGone: () => boolean, underWay: () => void): Promise<void> {
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isGone()) throw error;
    }
  };
  await attempt(async () => {
    for (let i = 0; i < RUNS_PER_ROUND && !isGone(); i++) {
      const { status, body } = await call('POST', '/v1/runs', { workflowId: STARTED[i % STARTED.length] });
      assert.equal(status, 201, JSON.stringify(body));
      seen.started.add(String(body.runId));
      if (i === STARTED.length - 1) underWay();
      if (i % 8 === 7) {
        const victim = String(body.runId);
        const cancelled = await call('POST', `/v1/runs/${victim}/cancel`, {});
        assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
        // It may have ended before it was told to
        if (cancelled.body.status !== 'completed') seen.cancelled.add(victim);
      }
      if (i % 4 === 3) await answerSome(seen, 3);
    }
  });
  while (!isGone()) await attempt(() => answerSome(seen, 10));
}

async function answerSome(seen: Seen, count: number): Promise<void> {
  const { body } = await call('GET', '/v1/host/gantry/interrupts?limit=200');
  const open = body.interrupts as { runId: string; nodeId: string; interruptId: string }[];
  for (const { runId, nodeId, interruptId } of open.slice(-count)) {
    const { status } = await call('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, {
      resumeValue: { action: 'accept' },
    });
    if (status === 200) seen.answered.add(interruptId);
    // A cascade or a join may take the question away between looking and answering.
    else assert.ok([404, 409, 410, 422].includes(status), `answering gave ${status}`);
  }
}

async function settleAll(seen: Seen): Promise<void> {
  const left = new Set(seen.started);
  while (left.size > 0) {
    await answerSome(seen, 200);
    for (const runId of left) {
      const { body } = await call('GET', `/v1/runs/${runId}`);
      if (isOver(body.status)) left.delete(runId);
    }
  }
}

function checkQuestions(runId: string, events: readonly RunEventDoc[], answered: ReadonlySet<string>): void {
  const asked = events.filter(({ type }) => type === 'interrupt.requested').map(({ payload }) => payload.key);
  assert.equal(new Set(asked).size, asked.length, `run ${runId} asked twice under one key`);
  for (const { type, payload } of events) {
    if (type !== 'interrupt.requested' || !answered.has(String(payload.interruptId))) continue;
    const taken = events.some(
      (event) => event.type === 'interrupt.resolved' && event.payload.interruptId === payload.interruptId,
    );
    assert.ok(taken, `run ${runId} lost the answer to ${String(payload.interruptId)}`);
  }
}

async function checkRun(runId: string, seen: Seen): Promise<number> {
  const events = await eventsOf(runId);
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index),
  );
  checkQuestions(runId, events, seen.answered);
  const { body } = await call('GET', `/v1/runs/${runId}`);
  assert.ok(isOver(body.status), `run ${runId} is ${String(body.status)}`);
  if (seen.cancelled.has(runId)) assert.equal(body.status, 'cancelled');
  const children = events
    .filter(({ type }) => type === 'node.dispatched')
    .map(({ payload }) => String(payload.childRunId));
  assert.equal(new Set(children).size, children.length, `run ${runId} dispatched a child twice`);
  for (const childId of children) {
    // Answers when it has ended: a cascade reaches it after its parent
    await call('GET', `/v1/runs/${childId}/events/poll?timeout=60&lastSequence=1000000`);
    const snapshot = (await call('GET', `/v1/runs/${childId}`)).body;
    assert.equal(snapshot.parentRunId, runId);
    assert.ok(
      isOver(snapshot.status),
      `child ${childId} of ${runId} was left behind: ${String(snapshot.status)}`,
    );
  }
  return children.length;
}

test(`kill -9 amid questions, joins and cascades (${ROUNDS} rounds)`, async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  for (const definition of DEFINITIONS)
    await writeFile(path.join(folder.path, `${definition.id}.json`), JSON.stringify(definition));
  const dataDir = path.join(folder.path, 'data');
  const start = () => startHostProcess({ dataDir, workflowsDir: folder.path, port: PORT });
  const seen: Seen = { started: new Set(), answered: new Set(), cancelled: new Set() };

  for (let round = 0; round < ROUNDS; round++) {
    const host = await start();
    let gone = false;
    let killed: Promise<void> | undefined;
    const kill = (): void => {
      gone = true;
      killed = host.kill();
    };
    await load(
      seen,
      () => gone,
      () => void setTimeout(kill, 137 * ((round * 7) % 5)),
    );
    await killed;
  }

  const host = await start();
  await settleAll(seen);
  let children = 0;
  for (const runId of seen.started) children += await checkRun(runId, seen);
  assert.ok(children > 0);
  assert.equal(await host.stop(), 0);
  t.diagnostic(`${seen.started.size} runs, ${children} children, ${seen.answered.size} answers`);
});
