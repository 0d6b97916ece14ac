import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CommitGroup, CommitPipeline, type Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { InvocationLog } from '../runtime/invocation-log.ts';
import { type Account, fullCounter, Ledger, reserving, runTotals, settling, wordOf } from './ledger.ts';

const NOW = Date.UTC(2026, 10, 17, 23, 59);
const TENANT = 't';

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
      owner: { tenant: TENANT, workspace: `w-${++roots}` },
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
      return log.claim(effect, reserving(of, amounts, { run: {}, project: {}, ...limits }));
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
