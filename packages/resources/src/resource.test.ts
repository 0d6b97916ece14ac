import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { CommitPipeline, type Store } from '@gantry/store';
import type { Caller } from './caller.ts';
import { Changes } from './changes.ts';
import { ResourceService } from './resource.ts';
import { backends } from './testing/backends.ts';
import { accounts } from './testing/sample.ts';

for (const backend of await backends()) {
  describe(`a resource on ${backend.name}`, { skip: backend.skip }, () => {
    let store: Store;
    let tenants = 0;
    let caller: Caller;
    before(async () => {
      store = await backend.open();
    });
    beforeEach(() => {
      caller = { kind: 'person', tenant: `t-${tenants++}`, workspace: 'w', actor: 'key-1' };
    });
    after(async () => {
      await store.close();
      await backend.remove();
    });

    const serviceOf = <A extends typeof accounts>(of: A) => {
      const changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
      return new ResourceService(of, { changes, entries: store.entries, now: Date.now, services: undefined });
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

    test('is changed at the version that the caller names', async () => {
      const service = serviceOf(accounts);
      const { view, version } = await service.create(caller, { name: 'first' });
      await service.call(caller, 'deposit', view.id, { amount: 1 }, { version });
      const late = service.call(caller, 'deposit', view.id, { amount: 1 }, { version });
      await assert.rejects(late, { code: 'conflict', details: { currentVersion: version + 1 } });
      await assert.rejects(service.remove(caller, view.id, { version }), { code: 'conflict' });
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
  });
}
