import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EmittedEvent, ownerOf } from '@gantry/protocol';
import { EMPTY_REDACTOR } from '@gantry/protocol/redaction';
import { type CommitGroup, CommitPipeline, type Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvocationLog } from '../runtime/invocation-log.ts';
import {
  type Account,
  adjusting,
  fullCounter,
  Ledger,
  projectCounter,
  runTotals,
  settling,
  wordOf,
} from './ledger.ts';
import { MediaStore } from './media-store.ts';
import { ModelCalls } from './model-calls.ts';
import type { CallingNode, PlannedCall } from './planned-call.ts';

const NOW = Date.UTC(2026, 10, 17, 23, 59);
const TENANT = 't';
const PLANNED: Omit<PlannedCall, 'attempt'> = {
  provider: 'p',
  model: 'm',
  price: null,
  inputTokens: 1,
  outputTokens: 1,
  streams: null,
  usageOf: () => ({ inputTokens: 1, outputTokens: 0 }),
};

test('the day of the default workspace goes on where it stood before the workspace had a name', () => {
  const { id } = projectCounter({ owner: ownerOf({ tenant: TENANT }), at: NOW }, 'tokens');
  assert.equal(id, 'project//2026-11-17/tokens');
});

for (const { name, skip, open, remove } of await backends()) {
  describe(`ledger on ${name}`, { skip }, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(async () => {
      await store?.close();
      await remove();
    });
    let roots = 0;

    const account = (): Account => ({
      owner: ownerOf({ tenant: TENANT, workspace: `w-${++roots}` }),
      rootRunId: `root-${roots}`,
      workflowId: 'flow',
      at: NOW,
    });

    const claim = (of: Account, ordinal: number, amounts: { tokens: number; cost: number }, limits = {}) => {
      const log = new InvocationLog(new CommitPipeline(store), store.records, () => NOW);
      const { rootRunId: runId } = of;
      const effect = {
        tenant: TENANT,
        runId,
        nodeId: 'n',
        ordinal,
        providerKey: 'ai',
        reserves: wordOf(amounts),
      };
      return log.claim(effect, adjusting(of, amounts, { run: {}, project: {}, ...limits }));
    };

    test('a claim reserves or is not made, and its record corrects the sum', async () => {
      const of = account();
      const ledger = new Ledger(store);
      const limits = { run: { tokens: 100 }, project: { cost: 50 } };
      const first = await claim(of, 0, { tokens: 60, cost: 30 }, limits);
      assert.ok(first.kind === 'claimed');
      assert.deepEqual(runTotals(first.values!), { tokens: 60, cost: 30 });
      const second = await claim(of, 1, { tokens: 60, cost: 1 }, limits);
      assert.ok(second.kind === 'lost' && second.reason === 'full');
      assert.deepEqual(fullCounter(second.write), { dimension: 'tokens', scope: 'run' });
      const third = await claim(of, 1, { tokens: 1, cost: 30 }, limits);
      assert.ok(third.kind === 'lost');
      assert.deepEqual(fullCounter(third.write), { dimension: 'cost', scope: 'project' });
      assert.deepEqual(await ledger.ofRun(TENANT, of.rootRunId), { tokens: 60, cost: 30 });

      const spent = { tokens: 25, cost: 10, inputTokens: 20, outputTokens: 5 };
      const settle: CommitGroup = [
        { kind: 'settleInvocation', tenant: TENANT, invocationId: first.invocationId, outcome: '{}' },
        ...settling(of, { tokens: 60, cost: 30 }, spent),
      ];
      assert.equal((await store.commit([settle]))[0]?.won, true);
      assert.equal((await store.commit([settle]))[0]?.won, false);
      assert.deepEqual(await ledger.ofRun(TENANT, of.rootRunId), { tokens: 25, cost: 10 });
      assert.deepEqual(await ledger.ofProject(of), { tokens: 25, cost: 10 });
      assert.deepEqual(await ledger.ofProject({ ...of, at: NOW + 60_000 }), { tokens: 0, cost: 0 });
    });

    test('a claim without a record stays spent and is listed by its run', async () => {
      const of = account();
      const ledger = new Ledger(store);
      const lost = await claim(of, 0, { tokens: 60, cost: 30 });
      const next = await claim(of, 1, { tokens: 40, cost: 20 });
      assert.ok(lost.kind === 'claimed' && next.kind === 'claimed');
      const { invocationId } = next;
      const spent = { tokens: 4, cost: 2, inputTokens: 3, outputTokens: 1 };
      await store.commit([
        [
          { kind: 'settleInvocation', tenant: TENANT, invocationId, outcome: '{}' },
          ...settling(of, { tokens: 40, cost: 20 }, spent),
        ],
      ]);
      assert.deepEqual(await ledger.held(TENANT, of.rootRunId), [
        { invocationId: lost.invocationId, nodeId: 'n', claimedAt: NOW, tokens: 60, cost: 30 },
      ]);
      assert.deepEqual(await ledger.ofRun(TENANT, of.rootRunId), { tokens: 64, cost: 32 });
      assert.deepEqual(await ledger.held('other', of.rootRunId), []);
    });

    test('events that a paused run did not take with a claim are told later, once', async () => {
      const epoch = await store.leases.acquire('host', NOW, 60_000);
      for (const dies of [false, true]) {
        const { rootRunId, owner, workflowId } = account();
        const told: string[] = [];
        let isPaused = true;
        const tell: CallingNode['tell'] = async (events, writes) => {
          if (isPaused) return null;
          const [result] = await store.commit([writes]);
          if (result?.won) told.push(...events.map(({ type }) => type));
          return result!;
        };
        const { signal } = new AbortController();
        const node = { owner, runId: rootRunId, nodeId: 'n', rootRunId, workflowId, epoch, tell, signal };
        const first: EmittedEvent[] = [{ type: 'prompt.composed', payload: {} }];
        const place = { ordinal: 0, series: 'ai', method: 'chat', fingerprint: '', first };
        const perform = (attempt: PlannedCall['attempt']) =>
          new ModelCalls({
            store,
            pipeline: new CommitPipeline(store),
            now: () => NOW,
            redactions: { of: () => EMPTY_REDACTOR },
            clock: systemClock,
            media: new MediaStore({ store, address: { known: async () => '' }, now: () => NOW }),
          }).perform(node, place, async () => ({ ...PLANNED, attempt }));
        const answer = async () => ({ answer: 'Hello', usage: { inputTokens: 1, outputTokens: 1 } });
        const asked = Promise.withResolvers<void>();
        const never = () => {
          asked.resolve();
          return new Promise<never>(() => {});
        };
        if (dies) void perform(never);
        else await perform(answer);
        if (dies) await asked.promise;
        assert.deepEqual(told, []);
        isPaused = false;
        await perform(answer);
        await perform(answer);
        assert.deepEqual(told, ['prompt.composed', 'provider.usage']);
      }
    });

    test('what several claim at once never passes the limit', async () => {
      const of = account();
      const limits = { run: { tokens: 50 } };
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, ordinal) => claim(of, ordinal, { tokens: 10, cost: 0 }, limits)),
      );
      assert.equal(claims.filter(({ kind }) => kind === 'claimed').length, 5);
      assert.equal((await new Ledger(store).ofRun(TENANT, of.rootRunId)).tokens, 50);
    });
  });
}
