/** Calls of nodes that change records and report events: both in one commit, each once, whenever the process dies. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { compile, type Plan } from '@gantry/engine';
import { createTurns } from '@gantry/limiter';
import { ownerOf } from '@gantry/protocol';
import { Changes, type NodeCaller, type RecordKind, systemCaller } from '@gantry/resources';
import { type CommitGroup, CommitPipeline, type Store } from '@gantry/store';
import pino from 'pino';
import { backends } from '../../../resources/src/testing/backends.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type Clock, systemClock } from './clock.ts';
import { EventHub } from './event-hub.ts';
import { InvocationLog } from './invocation-log.ts';
import { openRun, startRun } from './opened-run.ts';
import type { Executor, NodeWork } from './outside-work.ts';
import { RunActors } from './run-actors.ts';

const TENANT = 't';
const counters: RecordKind<{ readonly count: number }> = { kind: 'counter', idPrefix: 'cnt' };
const plan = compile(workflow('counts', [node('count', 'core.conformance.side-effect', {})]));
const limits = { maxNodeExecutions: 100, maxRunDurationMs: 1_000_000, maxLoopIterations: 10 };
/** A pause that waits for nodes has waited long enough soon. */
const clock: Clock = {
  ...systemClock,
  elapsedMs: () => performance.now() * 100,
  after: (ms, run) => systemClock.after(ms / 100, run),
};
const inputs = { now: Date.now, clock, randomBytes };
/** Stands still, so that no change is given up because the machine is slow. */
const NOW = Date.now();
const outbox = { writes: () => [], committed() {} };
let runs = 0;

interface Process {
  readonly actors: RunActors;
  readonly lost: string[];
  start(counter: string): Promise<string>;
  /** Its runs are another's, who goes on with them. */
  end(): Promise<void>;
}

interface ProcessOptions {
  readonly calls: number;
  readonly commit?: (store: Store, groups: readonly CommitGroup[]) => ReturnType<Store['commit']>;
  /** After each call of a node. */
  readonly called?: (runId: string) => Promise<void>;
}

/** What a process does for runs, without the API: its nodes add to the counter that the input names. */
async function processOn(store: Store, { calls, commit, called }: ProcessOptions): Promise<Process> {
  const epoch = await store.leases.acquire('process', Date.now(), 60_000);
  const pipeline = new CommitPipeline(commit ? { commit: (groups) => commit(store, groups) } : store);
  const changes = new Changes({ store, pipeline, ...inputs, now: () => NOW });
  const lost: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lost.push(line) });
  const executor: Executor = async ({ runId }, { nodeId }, signal, work) => {
    for (let call = 0; call < calls; call++) {
      signal.throwIfAborted();
      await changes.run(callerOf(work, nodeId, call), async (change) => {
        const counter = await change.get(counters, String(work.facts.inputs.counter));
        change.update(counter, { count: counter.record.count + 1 });
        change.tell({ type: 'log.appended', payload: { level: 'info', message: `call ${call}` } });
        return counter.record.count + 1;
      });
      await called?.(runId);
    }
    return { ok: true, outputs: {} };
  };
  const opening = { epoch, outbox, redacting: (plan: Plan) => plan, ...inputs };
  const actors: RunActors = new RunActors({
    store,
    planOf: async () => plan,
    secretsKnown: () => undefined,
    log,
    host: {
      ...opening,
      pipeline,
      turns: createTurns(),
      hub: new EventHub(),
      executor: () => executor,
      prepareChildren: () => assert.fail('no children'),
      committed() {},
      opened() {},
    },
    onWait() {},
    onReadAgain: async () => {},
  });
  const adopt = async () => actors.adopt(await store.leases.claimOrphans(epoch, Date.now(), 100));
  await adopt();
  return {
    actors,
    lost,
    async start(counter) {
      const facts = {
        runId: `run_${String(runs++).padStart(6, '0')}`,
        workflowId: 'counts',
        workflowHash: 'h',
      };
      const given = { owner: { tenant: TENANT }, createdAt: Date.now(), inputs: { counter }, limits };
      const empty = { configurable: {}, tags: [], metadata: {} };
      const opened = openRun(opening, startRun(opening, plan, { ...facts, ...given, ...empty }), null);
      assert.ok((await store.commit([opened.writes]))[0]?.won);
      actors.add(plan, opened.run).proceed();
      return facts.runId;
    },
    async end() {
      actors.stop();
      await store.leases.release(epoch);
    },
  };
}

function callerOf({ facts, epoch, tell }: NodeWork, nodeId: string, call: number): NodeCaller {
  const { runId, owner } = facts;
  const invocationId = `${runId}/${nodeId}/${call}`;
  return {
    kind: 'node',
    ...ownerOf(owner),
    actor: runId,
    call: { invocationId, runId, nodeId },
    epoch,
    tell,
  };
}

for (const backend of await backends()) {
  describe(`calls of nodes with events on ${backend.name}`, { skip: backend.skip }, () => {
    let store: Store;
    let names = 0;
    before(async () => {
      store = await backend.open();
    });
    after(async () => {
      await store.close();
      await backend.remove();
    });

    const newCounter = (): Promise<string> =>
      new Changes({ store, pipeline: new CommitPipeline(store), ...inputs }).run(
        systemCaller('test', { tenant: TENANT }),
        async (change) => change.create(counters, { count: 0 }, `c-${names++}`).id,
      );
    const countOf = async (id: string): Promise<number> =>
      JSON.parse((await store.entries.get({ kind: 'counter', tenant: TENANT, id }))!.body).count;
    const messagesOf = async (runId: string): Promise<string[]> =>
      (await store.runs.events(TENANT, runId, 0, 1_000))
        .filter(({ type }) => type === 'log.appended')
        .map(({ payload }) => JSON.parse(payload).message);
    const calls = (count: number): string[] => Array.from({ length: count }, (_, call) => `call ${call}`);

    test('ten runs on one counter: each call counts once and has its event, and no run is lost', async () => {
      const counter = await newCounter();
      const { actors, lost, start, end } = await processOn(store, { calls: 10 });
      const runIds = await Promise.all(Array.from({ length: 10 }, () => start(counter)));
      await actors.below(1);
      await end();
      assert.equal(await countOf(counter), 100);
      for (const runId of runIds) {
        assert.deepEqual(await messagesOf(runId), calls(10));
        assert.equal((await store.runs.row(TENANT, runId))?.status, 'completed');
      }
      assert.deepEqual(lost, []);
    });

    test('a process that dies at any commit, before or after it: nothing is missing and nothing twice', async () => {
      for (const isMade of [true, false])
        for (let last = 0; last < 9; last++) {
          const counter = await newCounter();
          const died = Promise.withResolvers<void>();
          let commits = 0;
          const underWay: Promise<unknown>[] = [];
          const dying = await processOn(store, {
            calls: 3,
            async commit(store, groups) {
              const isOver = commits++ >= last;
              if (!isOver || (isMade && commits === last + 1)) {
                const made = store.commit(groups);
                underWay.push(made);
                const results = await made;
                if (!isOver) return results;
              }
              died.resolve();
              return new Promise(() => {});
            },
          });
          const runIds = await Promise.all([dying.start(counter), dying.start(counter)]);
          await Promise.race([died.promise, dying.actors.below(1)]);
          // The rows of a commit under way are locked: nobody would claim them
          await Promise.all(underWay);
          await dying.end();
          const { actors, lost, end } = await processOn(store, { calls: 3 });
          await actors.below(1);
          await end();
          assert.deepEqual(lost, []);
          assert.equal(await countOf(counter), 6, `${isMade ? 'after' : 'before'} commit ${last}`);
          for (const runId of runIds) assert.deepEqual(await messagesOf(runId), calls(3));
        }
    });

    test('the event of a call during a pause is written after it, once', async () => {
      const counter = await newCounter();
      const first = Promise.withResolvers<void>();
      const paused = Promise.withResolvers<void>();
      let isPaused = false;
      const { actors, lost, start, end } = await processOn(store, {
        calls: 3,
        async called() {
          first.resolve();
          if (!isPaused) await paused.promise;
        },
      });
      const runId = await start(counter);
      await first.promise;
      const key = { tenant: TENANT, runId };
      const pause = { type: 'pause', now: Date.now(), drainPolicy: 'drain-current-node' } as const;
      assert.equal((await actors.use(key, (actor) => actor.command(pause)))?.kind, 'done');
      isPaused = true;
      paused.resolve();
      await actors.below(1);
      assert.deepEqual(await messagesOf(runId), ['call 0']);
      assert.equal(await countOf(counter), 3);
      const resume = { type: 'resume', now: Date.now() } as const;
      assert.equal((await actors.use(key, (actor) => actor.command(resume)))?.kind, 'done');
      await actors.below(1);
      await end();
      assert.deepEqual(await messagesOf(runId), calls(3));
      assert.equal(await countOf(counter), 3);
      assert.equal((await store.runs.row(TENANT, runId))?.status, 'completed');
      assert.deepEqual(lost, []);
    });

    test('the event of a call during a pause is written before a node that ends after it', async () => {
      const counter = await newCounter();
      const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let calls = 0;
      const { actors, lost, start, end } = await processOn(store, {
        calls: 2,
        async called() {
          const at = calls++;
          reached[at]?.resolve();
          await steps[at]?.promise;
        },
      });
      const key = { tenant: TENANT, runId: await start(counter) };
      await reached[0]?.promise;
      const pause = { type: 'pause', now: Date.now(), drainPolicy: 'drain-current-node' } as const;
      await actors.use(key, (actor) => actor.command(pause));
      steps[0]?.resolve();
      await reached[1]?.promise;
      const resume = { type: 'resume', now: Date.now() } as const;
      assert.equal((await actors.use(key, (actor) => actor.command(resume)))?.kind, 'done');
      steps[1]?.resolve();
      await actors.below(1);
      await end();
      assert.deepEqual(await messagesOf(key.runId), ['call 0', 'call 1']);
      assert.equal((await store.runs.row(TENANT, key.runId))?.status, 'completed');
      assert.deepEqual(lost, []);
    });

    test('an effect is claimed and settled with its amount, or not at all', async () => {
      const log = new InvocationLog(new CommitPipeline(store), store.records, Date.now);
      const effect = { tenant: TENANT, runId: 'run-1', nodeId: 'node-1', providerKey: 'p' };
      const key = { kind: 'budget', tenant: TENANT, id: `b-${names++}` };
      const amount = (delta: number) => [{ kind: 'adjust', key, delta, max: 5 } as const];
      const claimed = await log.claim({ ...effect, ordinal: names }, amount(4));
      assert.ok(claimed.kind === 'claimed');
      const full = { kind: 'lost', won: false, write: 0, reason: 'full' };
      assert.deepEqual(await log.claim({ ...effect, ordinal: names + 1 }, amount(2)), full);
      assert.equal(await log.isOpen({ ...effect, ordinal: names + 1 }), false);
      assert.equal((await log.claim({ ...effect, ordinal: names }, amount(1))).kind, 'underWay');
      const outcome = { ok: true, outputs: {} } as const;
      const { invocationId } = claimed;
      assert.equal((await log.settle(TENANT, invocationId, outcome, amount(-3))).won, true);
      assert.equal((await log.settle(TENANT, invocationId, outcome, amount(-3))).won, false);
      assert.equal(await store.entries.counter(key), 1);
    });
  });
}
