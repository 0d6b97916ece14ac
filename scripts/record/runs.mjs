// The event logs of workflows that a whole host runs.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { definitionOf, picks, play, shapes } from '../../packages/engine/src/testing/random-workflow.ts';
import { testHost } from '../../packages/host/src/testing/test-host.ts';

const RANDOM_WORKFLOWS = 200;
const SEED = 20_261_117;
const POLL_SECONDS = 30;
const VALUES = { string: 'text', number: 20, boolean: true, object: { a: [1] }, array: [1] };
/** Runs that only end when they are cancelled, or by a limit. */
const OPTIONS = {
  'conformance-cancellable': { inputs: { delayMs: 3_600_000 }, cancel: true },
  'conformance-dispatch-cancellable-child': { cancel: true },
  'conformance-interrupt-parent-child-cancel': { cancel: true },
  'conformance-run-duration-breach': { configurable: { runTimeoutMs: 1_000 } },
  'conformance-cap-breach': { configurable: { recursionLimit: 3 } },
};
const ANSWERS = {
  approval: { action: 'accept' },
  clarification: { answers: { q1: 'blue' } },
  'external-event': { orderId: 'fixture-order-1', status: 'completed' },
  'conversation.start': { operation: 'close' },
  'conversation.exchange': { operation: 'close' },
  'low-confidence': { action: 'accept' },
};

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
export const readAll = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => read(path.join(folder, name)));

export const samples = (root) => [
  ...readAll(path.join(root, 'workflows')),
  read(path.join(root, 'packs/guestbook/example.json')),
];

/** Yields `[workflow id, logs of its run and of the runs under it]`. */
export async function* recordRuns(root, definitions) {
  const closing = [];
  const packs = [path.join(root, 'packs/guestbook')];
  const settings = { packs, sandbox: 'permission-only' };
  const { request } = await testHost({ after: (close) => closing.push(close) }, { settings });
  const ask = async (method, url, body, key) => {
    const headers = {
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { authorization: `Bearer ${key}` }),
    };
    const response = await request({ method, url, headers, ...(body && { payload: JSON.stringify(body) }) });
    return { status: response.statusCode, body: response.json() };
  };
  try {
    const refused = new Map();
    for (const definition of definitions) {
      const { status, body } = await ask('POST', '/v1/host/gantry/workflows', definition);
      if (status !== 201) refused.set(definition.id, { status, error: body.error });
    }
    for (const definition of definitions)
      yield [definition.id, refused.get(definition.id) ?? (await recordRun(ask, definition))];
  } finally {
    for (const close of closing) await close();
  }
}

async function recordRun(ask, { id, variables }) {
  const { cancel, ...options } = OPTIONS[id] ?? {};
  const required = variables.filter((item) => item.required && item.defaultValue === undefined);
  const inputs = Object.fromEntries(required.map(({ name, type }) => [name, VALUES[type]]));
  const { status, body } = await ask('POST', '/v1/runs', { workflowId: id, inputs, ...options });
  if (status !== 201) return { status, error: body.error };
  return follow(ask, body.runId, cancel);
}

/** Until all are over; what the youngest asks is answered, and `cancel` ends the eldest once the youngest waits. */
async function follow(ask, runId, cancel) {
  const family = [{ runId, events: [], isTerminal: false }];
  for (let at = 0; at >= 0; at = family.findLastIndex(({ isTerminal }) => !isTerminal)) {
    const run = family[at];
    const after = run.events.length === 0 ? '' : `&lastSequence=${run.events.length - 1}`;
    const polled = await ask('GET', `/v1/runs/${run.runId}/events/poll?timeout=${POLL_SECONDS}${after}`);
    const { events, runStatus, isTerminal } = polled.body;
    if (events.length === 0 && !isTerminal) throw new Error(`The run ${run.runId} does not end`);
    run.events.push(...events);
    run.isTerminal = isTerminal;
    const born = events.filter(({ type }) => type === 'node.dispatched');
    family.push(...born.map(({ payload }) => ({ runId: payload.childRunId, events: [], isTerminal: false })));
    if (isTerminal || born.length > 0) continue;
    const isDelayed = events.some(({ payload }) => payload.typeId === 'core.delay');
    if (cancel && (isDelayed || runStatus.startsWith('waiting')))
      await ask('POST', `/v1/runs/${runId}/cancel`, {});
    else if (runStatus.startsWith('waiting')) await answer(ask, run);
  }
  const snapshots = await Promise.all(family.map((run) => ask('GET', `/v1/runs/${run.runId}`)));
  return family.map(({ events }, at) => ({ snapshot: snapshots[at].body, events }));
}

/** Each vote of an approval has a key of its own, since a quorum counts principals. */
async function answer(ask, { runId, events }) {
  const { payload } = events.findLast(({ type }) => type === 'interrupt.requested');
  const url = `/v1/runs/${runId}/interrupts/${payload.nodeId}`;
  const voter = { name: 'voter', scopes: ['approvals:respond'] };
  const key =
    payload.kind === 'approval' ? (await ask('POST', '/v1/host/gantry/keys', voter)).body.key : undefined;
  const { status, body } = await ask('POST', url, { resumeValue: ANSWERS[payload.kind] }, key);
  if (status !== 200) throw new Error(`${runId}: ${JSON.stringify(body)}`);
}

const seeded = (numRuns) => ({ seed: SEED, numRuns });

/** Half of them with loops. */
export function randomShapes() {
  const half = RANDOM_WORKFLOWS / 2;
  const orders = fc.sample(picks, seeded(RANDOM_WORKFLOWS));
  const all = [...fc.sample(shapes(false), seeded(half)), ...fc.sample(shapes(true), seeded(half))];
  return all.map((shape, at) => ({ id: `random-${at}`, shape, order: orders[at] }));
}

/** By the engine alone, where work is settled in a given order. */
export function* recordEngine() {
  for (const { id, shape, order } of randomShapes()) yield [id, play(shape, order, 3).events];
}

/** By the host, with one node that leaves the process: several would end in any order. */
export const randomDefinitions = () =>
  randomShapes().map(({ id, shape }) => {
    const first = shape.outside.indexOf(true);
    return { ...definitionOf({ ...shape, outside: shape.outside.map((_, at) => at === first) }), id };
  });
