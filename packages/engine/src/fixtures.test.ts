import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { compile, DefinitionError, executions, NODE_TYPES, snapshot, wakeAt } from './index.ts';
import { Trial } from './testing/workflow.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = join(resolve(root, process.env.OPENWOP_DATA ?? '../shared/openwop'), 'fixtures');
const missing = !existsSync(folder);
const skip = missing && process.env.CI !== 'true' ? 'the public fixtures are not on this machine' : false;

const read = (id: string): WorkflowDefinition => JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));
const all = missing ? [] : readdirSync(folder).map((file) => read(file.replace('.json', '')));
const isKnown = ({ nodes }: WorkflowDefinition) =>
  nodes.every(
    ({ typeId, agent, config }) =>
      NODE_TYPES.has(typeId) &&
      agent?.channel === undefined &&
      !('memoryAction' in config) &&
      !('mcp' in config),
  );

/** Those are played in `children/fixtures.test.ts`. */
const hasChildren = ({ nodes }: WorkflowDefinition) =>
  nodes.some(({ typeId }) => typeId === 'core.subWorkflow' || typeId === 'core.orchestrator.supervisor');

/** Those are played in `interrupt/fixtures.test.ts`. */
const waits = ({ id, nodes }: WorkflowDefinition) =>
  id === 'conformance-agent-low-confidence' ||
  nodes.some(({ typeId, config }) => /Gate$|interrupt$/.test(typeId) && config.mockAutoResume !== true);

/** A value of the right type for each required input. */
function inputsFor(definition: WorkflowDefinition): JsonObject {
  const values = { string: 'text', number: 20, boolean: true, object: { a: [1] }, array: [1] };
  const required = definition.variables.filter((item) => item.required && item.defaultValue === undefined);
  return Object.fromEntries(required.map(({ name, type }) => [name, values[type]]));
}

/** Runs to the end, sleeping through every delay. */
function finish(
  definition: WorkflowDefinition,
  configurable: JsonObject = {},
  inputs = inputsFor(definition),
): Trial {
  const trial = Trial.begin(definition, { configurable, inputs });
  for (let turn = 0; turn < 20 && trial.run.status === 'running'; turn++) {
    for (const { nodeId } of executions(trial.plan, trial.run)) trial.succeed(nodeId);
    const next = wakeAt(trial.plan, trial.run);
    if (next !== undefined) trial.wake(next);
  }
  return trial;
}

describe('public fixtures', { skip }, () => {
  const ENDS: Record<string, string> = {
    'conformance-failure': 'failed',
    'conformance-dispatch-deterministic-fail-child': 'failed',
    'conformance-capability-missing': 'failed',
  };

  test('those of known types end as documented', () => {
    const known = all.filter(isKnown);
    assert.ok(known.length >= 20, `only ${known.length} fixtures found in ${folder}`);
    for (const definition of known.filter((item) => !hasChildren(item) && !waits(item)))
      assert.equal(finish(definition).run.status, ENDS[definition.id] ?? 'completed', definition.id);
  });

  test('those of other types are refused by capability, a pinned channel as a value', () => {
    for (const definition of all.filter((item) => !isKnown(item)))
      assert.throws(
        () => compile(definition),
        (error) =>
          error instanceof DefinitionError &&
          error.issues.every(({ code, path }) => code === 'capability_required' || path.endsWith('/channel')),
      );
  });

  test('multi-node runs its nodes in order', () => {
    const log = finish(read('conformance-multi-node')).log();
    const completed = log.filter((line) => line.startsWith('node.completed'));
    assert.deepEqual(completed, ['node.completed a', 'node.completed b', 'node.completed c']);
  });

  test('identity keeps its payload', () => {
    const payload = { deep: [1, { x: null }] };
    const trial = finish(read('conformance-identity'), {}, { payload });
    assert.deepEqual(snapshot(trial.plan, trial.run).variables, { payload });
    assert.deepEqual(trial.run.outputs, { payload });
  });

  test('cap-breach breaks only when asked to', () => {
    const trial = finish(read('conformance-cap-breach'), { recursionLimit: 3 });
    assert.equal(trial.run.error?.code, 'recursion_limit_exceeded');
    assert.equal(trial.events.filter(({ type }) => type === 'cap.breached').length, 1);
  });

  test('run-duration-breach takes the run down, then says so', () => {
    const trial = finish(read('conformance-run-duration-breach'), { runTimeoutMs: 1_000 });
    assert.equal(trial.run.error?.code, 'run_timeout');
    const { limit, observed } = trial.payload('cap.breached');
    assert.ok(Number(observed) > Number(limit));
  });

  test('capability-missing names what is missing', () => {
    const { error } = finish(read('conformance-capability-missing')).run;
    assert.equal(error?.code, 'capability_not_provided');
    assert.match(error?.message ?? '', /conformance\.never-provided/);
  });
});
