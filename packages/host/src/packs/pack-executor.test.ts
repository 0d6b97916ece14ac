/** What cannot be seen through the front door: remote nodes, for which no server of a test has a valid certificate. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createEgressByPurpose } from '@gantry/egress';
import type { Execution, PackEffect } from '@gantry/engine';
import { ownerOf } from '@gantry/protocol';
import { creation } from '@gantry/resources';
import type { InvocationOutcome } from '@gantry/sandbox';
import { CommitPipeline, openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { createRedactions } from '../redaction/redactions.ts';
import { InvocationLog } from '../runtime/invocation-log.ts';
import { callingRun, type NodeWork } from '../runtime/outside-work.ts';
import { readSettings } from '../settings.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import type { CodeCalls } from './code-call.ts';
import { CodeFolders } from './code-folders.ts';
import { packExecutor } from './pack-executor.ts';
import { packVersions, type VersionRecord } from './pack-record.ts';
import { PackRecords } from './pack-records.ts';
import { Receipts } from './receipts.ts';
import { Sandboxes } from './sandboxes.ts';

const INTEGRITY = 'sha256-abc';
const TYPE = 'vendor.acme.far';
const now = () => 1_000;
const log = pino({ level: 'silent' });
const key = { tenant: 'acme', runId: 'run-1' };

const outcome = (result: InvocationOutcome['result']): InvocationOutcome => ({
  result,
  variables: {},
  durationMs: 1,
  used: { primitives: ['net.outbound'], surfaces: ['mcp:acme.example'] },
});

/** An executor of one remote node, over a store of its own. */
async function world(t: TestContext, remotes: CodeCalls['remotes']) {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  const body: VersionRecord = {
    name: 'vendor.acme.far',
    version: '1.0.0',
    integrity: INTEGRITY,
    source: 'archive',
    requires: [],
    chains: [],
    nodes: [{ typeId: TYPE, effect: 'effect', sensitiveOutputs: [] }],
    code: { language: 'remote', entry: 'https://acme.example/mcp' },
  };
  await store.commit([[creation(packVersions, { tenant: '*', id: INTEGRITY }, body, now())]]);
  const records = new PackRecords(store);
  const receipts = new Receipts({ store, now, log });
  const executor = packExecutor({
    store,
    now,
    records,
    receipts,
    outputsWarned: [],
    redactions: createRedactions(),
    memoryBytes: 1,
    wallClockMs: 1_000,
    folders: new CodeFolders(folder.path, records),
    sandboxes: new Sandboxes({
      settings: { ...readSettings([], {}), dataDir: folder.path },
      egress: createEgressByPurpose(),
      now,
      log,
    }),
    remotes,
    environment: {},
    runtimeCapabilities: [],
    secrets: async () => ({}),
    modelGate: async () => {},
    surfaces: () => ({ table: {}, call: async () => undefined }),
  })(new InvocationLog(new CommitPipeline(store), store.records, now));
  return { executor, receipts };
}

const execution = (effect: PackEffect = 'effect', attempt = 0): Execution => ({
  nodeId: 'a',
  typeId: TYPE,
  attempt,
  visit: 1,
  variables: {},
  ordinalBase: 0,
  inputs: { x: 1 },
  config: { y: 2 },
  pack: {
    packName: 'vendor.acme.far',
    packVersion: '1.0.0',
    integrity: INTEGRITY,
    effect,
    variables: {},
    answers: {},
    calls: [],
    rounds: 0,
  },
});

function working(emit: NodeWork['emit'] = async () => true): NodeWork {
  const facts = {
    runId: 'run-1',
    workflowId: 'one',
    workflowHash: 'hash',
    owner: { tenant: 'acme' },
    createdAt: 0,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    limits: { maxNodeExecutions: 1, maxRunDurationMs: 1, maxLoopIterations: 1 },
  };
  return {
    facts,
    owner: ownerOf(facts.owner),
    run: callingRun(facts),
    emit,
    epoch: 1,
    tell: async () => null,
  };
}

const { signal } = new AbortController();

test('a remote node is given its inputs and no more, and what it used is on the receipt', async (t) => {
  const seen: unknown[] = [];
  const { executor, receipts } = await world(t, {
    invoke: async ({ signal: _signal, emit: _emit, ...given }) => {
      seen.push(given);
      return outcome({ status: 'success', outputs: { z: 3 } });
    },
  });
  assert.deepEqual(await executor(key, execution(), signal, working()), { ok: true, outputs: { z: 3 } });
  assert.deepEqual(seen, [
    {
      pack: { name: 'vendor.acme.far', version: '1.0.0', entry: 'https://acme.example/mcp' },
      tenant: 'acme',
      typeId: TYPE,
      limits: { wallClockMs: 1_000, outputBytes: 8_388_608 },
      ctx: { runId: 'run-1', nodeId: 'a', attempt: 0, inputs: { x: 1 }, config: { y: 2 } },
    },
  ]);
  const [receipt] = await receipts.of('acme', 'vendor.acme.far');
  assert.deepEqual(receipt?.primitives, { 'net.outbound': 1 });
});

const gone = 'sandbox_invocation_error';

const FAILURES = [
  ['process', gone, 'effect', ['effect_in_doubt', false], 1],
  ['process', gone, 'idempotent', [gone, true], 3],
  ['host', 'sandbox_timeout', 'effect', ['sandbox_timeout', false], 1],
  ['host', 'sandbox_timeout', 'idempotent', ['sandbox_timeout', true], 1],
  ['pack', gone, 'effect', [gone, true], 1],
  ['pack', gone, 'idempotent', [gone, true], 1],
  ['pack', 'sandbox_timeout', 'effect', ['sandbox_timeout', true], 1],
  ['pack', 'effect_in_doubt', 'idempotent', ['effect_in_doubt', true], 1],
] as const;

test('a failure counts for what is known of it, by its origin and never by its code', async (t) => {
  let answer: InvocationOutcome['result'];
  let called = 0;
  const { executor } = await world(t, {
    invoke: async () => {
      called++;
      return outcome(answer);
    },
  });
  for (const [index, [origin, code, effect, expected, calls]] of FAILURES.entries()) {
    called = 0;
    answer = { status: 'error', origin, error: { code, message: 'no', retryable: true } };
    const end = await executor({ ...key, runId: `run-${index}` }, execution(effect), signal, working());
    const seen = 'ok' in end && !end.ok && [end.error.code, end.retryable];
    assert.deepEqual([seen, called], [expected, calls], `${code} of the ${origin}, ${effect}`);
  }
});

test('what a node that acts told during a pause is on record with its ending', async (t) => {
  let called = 0;
  const { executor } = await world(t, {
    invoke: async ({ emit }) => {
      called++;
      await emit({ type: 'held', data: {} });
      return outcome({ status: 'success', outputs: {} });
    },
  });
  const first = await executor(
    key,
    execution(),
    signal,
    working(async () => false),
  );
  const payload = { level: 'info', message: 'held', fields: {} };
  assert.deepEqual(first, { ok: true, outputs: {}, untold: [{ type: 'log.appended', payload }] });
  assert.deepEqual(await executor(key, execution(), signal, working()), first);
  assert.equal(called, 1);
});
