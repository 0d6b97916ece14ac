import assert from 'node:assert/strict';
import { createHmac, hash, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { CommitPipeline, type Store } from '@gantry/store';
import { type Caller, personCaller, systemCaller } from './caller.ts';
import { Changes } from './changes.ts';
import { creation, type RecordKind, readRecord } from './record-kind.ts';
import type { resource } from './resource.ts';
import { ResourceService } from './resource-service.ts';
import { openSecret, type Sealer, type Secret } from './secret.ts';
import { backends } from './testing/backends.ts';
import { type AccountRecord, accounts, type accountsWire } from './testing/sample.ts';

for (const backend of await backends()) {
  describe(`a resource on ${backend.name}`, { skip: backend.skip }, () => {
    let store: Store;
    let tenants = 0;
    let caller: Caller;
    before(async () => {
      store = await backend.open();
    });
    beforeEach(() => {
      caller = personCaller({ tenant: `t-${tenants++}`, workspace: 'w', principal: 'key-1' });
    });
    after(async () => {
      await store.close();
      await backend.remove();
    });

    const changes = () =>
      new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
    const serviceOf = <A extends typeof accounts>(of: A) => {
      const { entries } = store;
      return new ResourceService(of, { changes: changes(), entries, now: Date.now, services: undefined });
    };

    test('is created, read, changed and removed by its literal alone', async () => {
      const service = serviceOf(accounts);
      const start = await store.feed.last();
      const { view: created, version } = await service.create(caller, { name: 'first' });
      assert.deepEqual(created, { id: created.id, name: 'first', amount: 0, frozen: false });
      assert.match(created.id, /^acc_/);
      const { id } = created;
      assert.equal((await service.call(caller, 'deposit', id, { amount: 5 })).view.amount, 5);
      assert.equal(await service.read(caller, 'covers', id, { amount: 5 }), true);
      assert.deepEqual(await service.get(caller, id), {
        view: { ...created, amount: 5 },
        version: version + 1,
      });
      await assert.rejects(service.remove(caller, id), {
        code: 'conflict',
        message: 'The account is not empty.',
      });
      const { view: other } = await service.create(caller, { name: 'second' });
      assert.deepEqual(
        (await service.list(caller, { limit: 10 })).map(({ view }) => view.id),
        [other.id, id],
      );
      const named = { index: { name: 'name', value: 'first' }, limit: 10 };
      assert.deepEqual(
        (await service.list(caller, named)).map(({ view }) => view.id),
        [id],
      );
      await service.remove(caller, other.id);
      await assert.rejects(service.get(caller, other.id), { code: 'not_found' });
      const fed = await store.feed.after(start, { tenant: caller.tenant, now: Date.now(), limit: 10 });
      assert.deepEqual(
        fed?.rows.map(({ op, id }) => [op, id]),
        [
          ['create', id],
          ['update', id],
          ['create', other.id],
          ['delete', other.id],
        ],
      );
      assert.equal(fed?.rows[0]?.actor, 'key-1');
    });

    test('has methods of the whole collection that change several of its records at once', async () => {
      const service = serviceOf(accounts);
      const from = (await service.create(caller, { name: 'first' })).view.id;
      const to = (await service.create(caller, { name: 'second' })).view.id;
      await service.call(caller, 'deposit', from, { amount: 5 });
      assert.deepEqual(await service.actAll(caller, 'transfer', { from, to, amount: 3 }), { from: 2, to: 3 });
      await assert.rejects(service.actAll(caller, 'transfer', { from, to, amount: 3 }), { code: 'conflict' });
      const amounts = (await service.list(caller, { limit: 10 })).map(({ view }) => view.amount);
      assert.deepEqual(amounts.toSorted(), [2, 3]);
      assert.equal(await service.act(caller, 'withdraw', to, { amount: 1 }), 2);
      assert.equal(service.all('sum', { amounts }), 5);
    });

    test('is changed at the version that the caller names', async () => {
      const service = serviceOf(accounts);
      const { view, version } = await service.create(caller, { name: 'first' });
      await service.call(caller, 'deposit', view.id, { amount: 1 }, { version });
      const late = service.call(caller, 'deposit', view.id, { amount: 1 }, { version });
      await assert.rejects(late, { code: 'conflict', details: { currentVersion: version + 1 } });
      await assert.rejects(service.remove(caller, view.id, { version }), { code: 'conflict' });
    });

    test('is listed in pages that end at their limit, or at 4 MiB', async () => {
      const service = serviceOf({ ...accounts, kind: 'large-account', index: {}, unique: [] });
      const sizes = [3_000_000, 2_000_000, 5_000_000, 10, 10];
      for (const [i, size] of sizes.entries())
        await service.create(caller, { name: `${i}${'x'.repeat(size)}` });
      const pages: string[][] = [];
      for (let beforeId = '~', isLast = false; !isLast; ) {
        const { shown, hasMore } = await service.page(caller, { beforeId, limit: 3 });
        // Ids of one millisecond have no order
        pages.push(shown.map(({ view }) => view.name.slice(0, 1)).sort());
        isLast = !hasMore;
        beforeId = shown.at(-1)?.view.id ?? '';
      }
      assert.deepEqual(pages, [['3', '4'], ['2'], ['1'], ['0']]);
    });

    test('keeps secrets sealed, and answers none', async () => {
      const sealer: Sealer = {
        seal: (text, context) => `${context}:${Buffer.from(text).toString('base64')}`,
        open: (sealed, context) =>
          sealed.startsWith(`${context}:`)
            ? Buffer.from(sealed.slice(context.length + 1), 'base64').toString()
            : null,
        hmac: (purpose) => (text) => createHmac('sha256', `key/${purpose}`).update(text).digest(),
      };
      const vaults: RecordKind<{ readonly name: string; readonly code: Secret }> = {
        kind: 'vault',
        idPrefix: 'vlt',
        secret: ['code'],
      };
      const pipeline = new CommitPipeline(store);
      const changes = new Changes({ store, pipeline, now: Date.now, randomBytes, sealer });
      const created = await changes.run(caller, async (change) =>
        change.create(vaults, { name: 'a', code: 'open sesame' }),
      );
      assert.doesNotMatch(JSON.stringify(created), /sesame/);
      const renamed = await changes.run(caller, async (change) =>
        change.update(await change.get(vaults, created.id), { name: 'b' }),
      );
      assert.deepEqual(renamed.record.code, created.record.code);
      assert.doesNotMatch((await store.entries.get({ ...renamed, kind: 'vault' }))!.body, /sesame/);
      assert.equal(openSecret(sealer, renamed, 'code'), 'open sesame');
      assert.equal(openSecret(sealer, { ...renamed, id: 'vlt_other' }, 'code'), null);
      assert.notEqual(changes.digest('{}'), hash('sha256', '{}', 'hex'));
      const unsealed = serviceOf(accounts).digest;
      assert.equal(unsealed, undefined);
    });

    test('belongs to its tenant, or to its workspace', async () => {
      const service = serviceOf({ ...accounts, kind: 'own-account', boundary: 'workspace' });
      const { view } = await service.create(caller, { name: 'first' });
      assert.equal((await service.list(caller, { limit: 10 })).length, 1);
      for (const stranger of [
        { ...caller, workspace: 'x' },
        { ...caller, tenant: 'other' },
      ]) {
        await assert.rejects(service.get(stranger, view.id), { code: 'not_found' });
        await assert.rejects(service.call(stranger, 'freeze', view.id, {}), { code: 'not_found' });
        assert.deepEqual(await service.list(stranger, { limit: 10 }), []);
      }
    });

    test('its methods are parts of a larger change, which happens as a whole or not at all', async () => {
      const service = serviceOf(accounts);
      const move = (from: string, to: string, amount: number) =>
        changes().run(caller, async (change) => {
          const within = service.within(change);
          const left = await within.act('withdraw', from, { amount });
          const { view, version } = await within.call('deposit', to, { amount });
          assert.deepEqual(await within.get(to), { view, version }, 'it sees what it has written');
          const { view: note } = await within.create({ name: `moved-${amount}` });
          return { left, filled: view.amount, note: note.id };
        });
      const from = (await service.create(caller, { name: 'from' })).view.id;
      const to = (await service.create(caller, { name: 'to' })).view.id;
      await service.call(caller, 'deposit', from, { amount: 5 });
      const { left, filled, note } = await move(from, to, 2);
      assert.deepEqual([left, filled], [3, 2]);
      await service.remove(caller, note);
      await service.call(caller, 'freeze', to, {});
      await assert.rejects(move(from, to, 1), { message: 'The account is frozen.' });
      assert.equal((await service.get(caller, from)).view.amount, 3, 'nothing was withdrawn');
      const removal = await changes().run(caller, (change) =>
        service
          .within(change)
          .remove(to)
          .catch(() => 'kept'),
      );
      assert.equal(removal, 'kept');
      await assert.rejects(
        changes().run(caller, (change) => service.within(change).call('freeze', from, {}, { version: 1 })),
        { code: 'conflict' },
      );
    });

    test('who listens to its changes is told after the commit of the larger one, before its answer', async () => {
      const heard: string[] = [];
      const service = new ResourceService(accounts, {
        changes: changes(),
        entries: store.entries,
        now: Date.now,
        services: undefined,
        onChanged: async (_tenant, id) => {
          heard.push(
            `${id} ${(await store.entries.get({ kind: 'account', tenant: caller.tenant, id }))?.version}`,
          );
        },
      });
      const { view, version } = await service.create(caller, { name: 'heard' });
      await service.call(caller, 'deposit', view.id, { amount: 1 });
      await assert.rejects(service.remove(caller, view.id), { code: 'conflict' });
      assert.deepEqual(heard, [`${view.id} ${version + 1}`]);
    });

    test('a clock finishes a record of any workspace, which stays there', async () => {
      const kind = { ...accounts, kind: 'own-account', boundary: 'workspace' } as const;
      const service = serviceOf(kind);
      const { id } = (await service.create(caller, { name: 'due' })).view;
      const found = await readRecord(store.entries, kind, caller.tenant, id);
      assert.equal(found?.workspace, 'w');
      assert.equal(await changes().settle('clock', found, { ...found.record, frozen: true }), true);
      assert.equal((await service.get(caller, id)).view.frozen, true);
    });

    test('a part of the host sees all workspaces of its tenant, and creates in the one that it names', async () => {
      const kind = { ...accounts, kind: 'own-account', boundary: 'workspace' } as const;
      const { id } = (await serviceOf(kind).create(caller, { name: 'first' })).view;
      const { tenant } = caller;
      const seen = (of: Parameters<typeof systemCaller>[1]) =>
        changes().run(systemCaller('clock', of), async (change) => (await change.find(kind, id))?.id);
      assert.equal(await seen({ tenant }), id);
      assert.equal(await seen({ tenant, workspace: 'x' }), id);
      assert.equal(await seen({ tenant: 'other', workspace: 'w' }), undefined);
      const made = await changes().run(systemCaller('clock', { tenant, workspace: 'x' }), async (change) =>
        change.create(kind, { name: 'second', amount: 0, frozen: false }),
      );
      assert.equal(made.workspace, 'x');
      const anywhere = { ...caller, workspace: 'x' };
      assert.equal((await serviceOf(kind).get(anywhere, made.id)).view.name, 'second');
    });

    test('a row without a workspace belongs to the default one', async () => {
      const kind = { ...accounts, kind: 'own-account', boundary: 'workspace' } as const;
      const { tenant } = caller;
      const record = { name: 'old', amount: 0, frozen: false };
      await store.commit([[creation(kind, { tenant, id: 'acc_old' }, record, Date.now())]]);
      const service = serviceOf(kind);
      const home = personCaller({ tenant, principal: 'key-1' });
      assert.equal((await service.get(home, 'acc_old')).view.name, 'old');
      assert.equal((await service.call(home, 'deposit', 'acc_old', { amount: 1 })).view.amount, 1);
      assert.equal((await service.list(home, { limit: 10 })).length, 1);
      await assert.rejects(service.get(caller, 'acc_old'), { code: 'not_found' });
    });
  });
}

type Literal = Parameters<typeof resource<typeof accountsWire, AccountRecord>>[1];
type Without<M extends keyof Literal> = Omit<Literal, M> extends Literal ? 'compiles' : 'does not compile';

test('a literal that lacks one of its methods does not compile', () => {
  // The types say it: another text here is an error of the compiler
  const compiled: { readonly [M in 'acts' | 'reads' | 'all' | 'allActs' | 'verbs' | 'max']: Without<M> } = {
    acts: 'does not compile',
    reads: 'does not compile',
    all: 'does not compile',
    allActs: 'does not compile',
    verbs: 'does not compile',
    max: 'compiles',
  };
  assert.equal(
    Object.keys(compiled).every((member) => member in accounts),
    true,
  );
});
