import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { OpenwopError, ownerOf } from '@gantry/protocol';
import { CommitPipeline, type Store, StoreError } from '@gantry/store';
import fc from 'fast-check';
import { type Caller, type NodeCaller, personCaller, systemCaller } from './caller.ts';
import { Changes } from './changes.ts';
import type { Stored } from './record-kind.ts';
import { backends } from './testing/backends.ts';
import { type AccountRecord, accounts } from './testing/sample.ts';

const system = (tenant: string): Caller => systemCaller('test', { tenant });
const person = (tenant: string, key: string, digest = 'd'): Caller => {
  const request = { tenant, operation: 'POST /accounts', key, digest, expiresAt: Date.now() + 60_000 };
  return personCaller({ tenant, principal: 'key-1' }, request);
};

/** Stands still, so that no change is given up because the machine is slow. */
const NOW = Date.now();

const changesOn = (
  store: Store,
  pipeline: Pick<CommitPipeline, 'commit'> = new CommitPipeline(store),
  now = () => NOW,
): Changes => new Changes({ store, pipeline, now, randomBytes });

for (const backend of await backends()) {
  describe(`changes on ${backend.name}`, { skip: backend.skip }, () => {
    let store: Store;
    let changes: Changes;
    before(async () => {
      store = await backend.open();
      changes = changesOn(store);
    });
    after(async () => {
      await store.close();
      await backend.remove();
    });

    const open = (tenant: string, names: readonly string[], amount = 0): Promise<string[]> =>
      changes.run(system(tenant), async (change) =>
        names.map((name) => change.create(accounts, { name, amount, frozen: false }).id),
      );
    const amountsOf = async (tenant: string): Promise<number[]> =>
      (await store.entries.list('account', tenant, { limit: 100 })).map(
        ({ body }) => JSON.parse(body).amount,
      );
    const add = (of: Changes, caller: Caller, id: string, amount: number): Promise<number> =>
      of.run(caller, async (change) => {
        const account = await change.get(accounts, id);
        return change.update(account, { amount: account.record.amount + amount }).record.amount;
      });

    test('50 callers on one record lose no update', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      const caller = async (): Promise<number[]> => {
        const seen: number[] = [];
        for (let i = 0; i < 10; i++) seen.push(await add(changes, system(tenant), id, 1));
        return seen;
      };
      const seen = (await Promise.all(Array.from({ length: 50 }, caller))).flat();
      assert.deepEqual(await amountsOf(tenant), [500]);
      assert.equal(new Set(seen).size, 500, 'each saw its own sum');
    });

    test('any transfers between accounts keep the sum', async () => {
      const transfer = fc.record({ from: fc.nat(3), to: fc.nat(3), amount: fc.integer({ min: 1, max: 60 }) });
      await fc.assert(
        fc.asyncProperty(fc.array(transfer, { minLength: 1, maxLength: 25 }), async (transfers) => {
          const tenant = randomUUID();
          const ids = await open(tenant, ['a', 'b', 'c', 'd'], 100);
          const settled = await Promise.allSettled(
            transfers.map(({ from, to, amount }) => move(tenant, [ids[from]!, ids[to]!], amount)),
          );
          for (const each of settled)
            if (each.status === 'rejected') assert.match(String(each.reason), /not enough/);
          const amounts = await amountsOf(tenant);
          assert.equal(
            amounts.reduce((sum, amount) => sum + amount),
            400,
          );
          assert.ok(amounts.every((amount) => amount >= 0));
        }),
        { numRuns: 12 },
      );
    });

    const move = (tenant: string, [from, to]: [string, string], amount: number): Promise<void> =>
      changes.run(system(tenant), async (change) => {
        const [source, target] = await Promise.all([change.get(accounts, from), change.get(accounts, to)]);
        if (source.record.amount < amount) throw new OpenwopError('conflict', { message: 'not enough' });
        if (from === to) return;
        change.update(source, { amount: source.record.amount - amount });
        change.update(target, { amount: target.record.amount + amount });
      });

    test('what was read and not written still holds at the commit, though it was absent', async () => {
      const tenant = randomUUID();
      const createUnless = (own: string, other: string): Promise<boolean> =>
        changes.run(system(tenant), async (change) => {
          if (await change.find(accounts, other)) return false;
          change.create(accounts, { name: own, amount: 0, frozen: false }, own);
          return true;
        });
      for (let round = 0; round < 10; round++) {
        const [a, b] = [`a-${round}`, `b-${round}`];
        const created = await Promise.all([createUnless(a, b), createUnless(b, a)]);
        assert.deepEqual(created.toSorted(), [false, true], `round ${round}`);
      }
    });

    test('a repeated request has one effect and one answer, side by side and later', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      const caller = person(tenant, 'key');
      const answers = await Promise.all([1, 2, 3, 4].map(() => add(changes, caller, id, 5)));
      assert.deepEqual([...answers, await add(changes, caller, id, 5)], [5, 5, 5, 5, 5]);
      assert.deepEqual(await amountsOf(tenant), [5]);
      await assert.rejects(add(changes, person(tenant, 'key', 'other'), id, 5), {
        code: 'idempotency_key_mismatch',
      });
    });

    test('what is shown once is refused to a repeat, and recorded nowhere', async () => {
      const tenant = randomUUID();
      const issue = (caller: Caller): Promise<string> =>
        changes.run(caller, async (change) => {
          change.answerOnce(new OpenwopError('conflict', { message: 'shown once' }));
          return change.createFor(accounts, (name) => ({ name, amount: 1, frozen: false })).record.name;
        });
      const caller = person(tenant, 'key');
      const issued = await issue(caller);
      await assert.rejects(issue(caller), { code: 'conflict', message: 'shown once' });
      assert.equal((await store.entries.list('account', tenant, { limit: 9 }))[0]?.id, issued);
      const record = await store.records.idempotency(tenant, 'POST /accounts', 'key');
      assert.ok(record && !record.body.includes(issued));
    });

    test('who is refused among those that wait for one record is refused alone', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      await add(changes, person(tenant, 'used'), id, 1);
      const callers = Array.from({ length: 30 }, (_, i) => {
        if (i === 10) return person(tenant, 'used', 'other');
        return i === 20 ? person(tenant, 'used') : person(tenant, `key-${i}`);
      });
      for (const round of [1, 2]) {
        const settled = await Promise.allSettled(callers.map((caller) => add(changes, caller, id, 1)));
        const refused = settled.flatMap((each, i) =>
          each.status === 'rejected' ? [[i, each.reason.code]] : [],
        );
        assert.deepEqual(refused, [[10, 'idempotency_key_mismatch']], `round ${round}`);
        assert.deepEqual(await amountsOf(tenant), [29]);
      }
    });

    test('a refusal is recorded with what it was decided on', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      let tries = 0;
      const withdraw = (caller: Caller) =>
        changes.run(caller, async (change) => {
          const account = await change.get(accounts, id);
          // Between this read and the commit of its refusal, the first time
          if (tries++ === 0) await add(changesOn(store), system(tenant), id, 7);
          if (account.record.amount < 7) throw new OpenwopError('conflict', { message: 'not enough' });
          return change.update(account, { amount: account.record.amount - 7 }).record.amount;
        });
      assert.equal(await withdraw(person(tenant, 'one')), 0);
      assert.equal(tries, 2);
      await assert.rejects(withdraw(person(tenant, 'two')), { code: 'conflict', message: 'not enough' });
      await add(changes, system(tenant), id, 7);
      await assert.rejects(withdraw(person(tenant, 'two')), { code: 'conflict', message: 'not enough' });
      assert.deepEqual(await amountsOf(tenant), [7]);
    });

    test('limits and unique names refuse, also beside others', async () => {
      const tenant = randomUUID();
      const create = (name: string) =>
        changes.run(system(tenant), async (change) =>
          change.create(accounts, { name, amount: 0, frozen: false }),
        );
      const same = await Promise.allSettled(Array.from({ length: 8 }, () => create('same')));
      assert.equal(same.filter(({ status }) => status === 'fulfilled').length, 1);
      await assert.rejects(create('same'), { code: 'conflict', message: /id or name exists already/ });
      let tries = 0;
      const rename = changes.run(system(tenant), async (change) => {
        tries++;
        assert.equal(await change.find(accounts, 'chosen'), null);
        const other = change.create(accounts, { name: 'other', amount: 0, frozen: false }, 'chosen');
        change.update(other, { name: 'same' });
      });
      await assert.rejects(rename, { code: 'conflict', message: /id or name exists already/ });
      const taken = changes.run(system(tenant), async (change) => {
        tries++;
        assert.equal(await change.find(accounts, 'chosen'), null);
        change.create(accounts, { name: 'same', amount: 0, frozen: false }, 'chosen');
      });
      await assert.rejects(taken, { code: 'conflict', message: /id or name exists already/ });
      assert.equal(tries, 3, 'a taken name is no race');
      const many = await Promise.allSettled(Array.from({ length: 110 }, (_, i) => create(`n-${i}`)));
      assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 99);
      await assert.rejects(create('more'), { details: { limit: 100 } });
    });

    test('a node records its call under its lease', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      const epoch = await store.leases.acquire('process', Date.now(), 60_000);
      const call = { invocationId: 'call-1', runId: 'run-1', nodeId: 'node-1' };
      const tell = async () => assert.fail('it has no events');
      const owner = ownerOf({ tenant });
      const node: NodeCaller = { kind: 'node', ...owner, actor: 'run-1', call, epoch, tell };
      assert.equal(await add(changes, node, id, 3), 3);
      assert.equal(await add(changes, node, id, 3), 3);
      await store.leases.release(epoch);
      const late: NodeCaller = { ...node, call: { ...call, invocationId: 'call-2' } };
      await assert.rejects(add(changes, late, id, 3), { code: 'service_unavailable' });
      assert.deepEqual(await amountsOf(tenant), [3]);
    });

    test('a run that starts with a change begins once, after its commit, or not at all', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      let begun = 0;
      const facts = { tenant, workspace: null, principal: null, workflowId: 'w', workflowHash: 'h' };
      const head = { status: 'running', owner: null, wakeAt: null, endedAt: null } as const;
      const start = (caller: Caller, runId: string, fail = false): Promise<string> =>
        changes.run(caller, async (change) => {
          const account = await change.get(accounts, id);
          change.update(account, { amount: account.record.amount + 1 });
          const given = { ...facts, runId, scopeId: null, createdAt: NOW, request: '{}' };
          const writes = [{ kind: 'createRun', facts: given, head, events: [] } as const];
          change.start({ runId, writes, begun: () => void begun++ });
          if (fail) throw new OpenwopError('conflict', { message: 'refused' });
          return runId;
        });
      await Promise.all([1, 2, 3].map((n) => start(system(tenant), `${tenant}-${n}`)));
      assert.equal(begun, 3);
      await assert.rejects(start(person(tenant, 'refused'), `${tenant}-4`, true), { code: 'conflict' });
      assert.equal(await start(person(tenant, 'key'), `${tenant}-5`), `${tenant}-5`);
      assert.equal(await start(person(tenant, 'key'), `${tenant}-6`), `${tenant}-5`);
      assert.equal(begun, 4);
      assert.deepEqual(await amountsOf(tenant), [4]);
      const runIds = (await store.runs.list(tenant, { limit: 10 })).map(({ runId }) => runId.at(-1));
      assert.deepEqual(runIds.toSorted(), ['1', '2', '3', '5']);
    });

    test('after a lost answer the outcome is found out, or said to be unknown', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      const doubt = () => new StoreError('io', 'The answer was lost.', { outcome: 'unknown' });
      /** Each commit is answered with a doubt once, after it was made or instead. */
      const doubting = (isMade: boolean): Changes => {
        const pipeline = new CommitPipeline(store);
        let times = 0;
        return changesOn(store, {
          async commit(group) {
            if (times++ > 0) return pipeline.commit(group);
            if (isMade) await pipeline.commit(group);
            throw doubt();
          },
        });
      };
      assert.equal(await add(doubting(true), person(tenant, 'made'), id, 1), 1);
      assert.equal(await add(doubting(false), person(tenant, 'not made'), id, 1), 2);
      assert.equal(await add(doubting(true), system(tenant), id, 1), 3);
      await assert.rejects(add(doubting(false), system(tenant), id, 1), { outcome: 'unknown' });
      assert.deepEqual(await amountsOf(tenant), [3]);
    });

    for (const [tryMs, tries] of [
      [600, 8],
      [100, 21],
    ] as const)
      test(`a change that loses tries of ${tryMs} ms is given up after ${tries}, and that is not recorded`, async () => {
        const tenant = randomUUID();
        const [id = ''] = await open(tenant, ['a']);
        let now = NOW;
        let commits = 0;
        const losing = async () => {
          commits++;
          now += tryMs;
          return { won: false, write: 1, reason: 'stale' } as const;
        };
        const caller = person(tenant, 'key');
        const attempt = add(
          changesOn(store, { commit: losing }, () => now),
          caller,
          id,
          1,
        );
        await assert.rejects(attempt, { code: 'conflict', message: /kept changing the same records/ });
        assert.equal(commits, tries);
        assert.equal(await add(changes, caller, id, 1), 1);
      });

    test('a change sees its own writes, and a function that fails leaves nothing', async () => {
      const tenant = randomUUID();
      const [id = ''] = await open(tenant, ['a']);
      const twice = (fail: boolean) =>
        changes.run(system(tenant), async (change) => {
          let account: Stored<AccountRecord> = await change.get(accounts, id);
          change.update(account, { amount: 1 });
          account = await change.get(accounts, id);
          change.update(account, { amount: account.record.amount + 1 });
          if (fail) throw new Error('a bug');
        });
      await assert.rejects(twice(true), /a bug/);
      assert.deepEqual(await amountsOf(tenant), [0]);
      await twice(false);
      assert.deepEqual(await amountsOf(tenant), [2]);
    });
  });
}
