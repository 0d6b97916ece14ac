/** Records of a workspace: their lists, limits and values are its own; what belongs to a record goes with it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { CommitPipeline, type Store } from '@gantry/store';
import { type Caller, personCaller, systemCaller } from './caller.ts';
import { Changes } from './changes.ts';
import { fromEntry, readRecord } from './record-kind.ts';
import { removeChildren, tombstones } from './removals.ts';
import { resource } from './resource.ts';
import { ResourceService } from './resource-service.ts';
import { backends } from './testing/backends.ts';
import { type Board, boards, type boardsWire, type Task, tasks, tasksWire } from './testing/boards.ts';

for (const backend of await backends()) {
  describe(`records of a workspace on ${backend.name}`, { skip: backend.skip }, () => {
    let store: Store;
    let changes: Changes;
    let tenant: string;
    let tenants = 0;
    before(async () => {
      store = await backend.open();
      changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
    });
    beforeEach(() => {
      tenant = `t-${tenants++}`;
    });
    after(async () => {
      await store.close();
      await backend.remove();
    });

    const caller = (workspace?: string): Caller => personCaller({ tenant, workspace, principal: 'ada' });
    const serviceOf = () => {
      const options = { changes, entries: store.entries, now: Date.now, services: undefined };
      return {
        board: new ResourceService(boards, options),
        task: new ResourceService(tasks, options),
      };
    };

    test('values are unique and counted in each workspace, and its lists are whole pages', async () => {
      const { board } = serviceOf();
      const make = (workspace: string | undefined, boardId: string, title: string) =>
        board.create(caller(workspace), { boardId, title });
      await make('a', 'one', 'first');
      await make('b', 'two', 'first');
      await make(undefined, 'three', 'first');
      await assert.rejects(make('a', 'four', 'first'), {
        code: 'conflict',
        message: /this id or title exists/,
      });
      await make('a', 'four', 'second');
      await assert.rejects(make('a', 'five', 'third'), { code: 'conflict', message: /There are 2 records/ });
      await make('b', 'five', 'third');
      await board.remove(caller('a'), 'four');
      await make('a', 'six', 'third');
      const filter = { index: { name: 'team', value: 'none' }, limit: 1 };
      for (const [workspace, ids] of [
        ['a', ['six', 'one']],
        ['b', ['two', 'five']],
        ['default', ['three']],
        ['none', []],
      ] as const) {
        const first = await board.page(caller(workspace), filter);
        assert.equal(first.hasMore, ids.length > 1);
        const [shown] = first.shown;
        const rest =
          shown && (await board.page(caller(workspace), { ...filter, beforeId: shown.view.boardId }));
        assert.deepEqual(
          [...first.shown, ...(rest?.shown ?? [])].map(({ view }) => view.boardId),
          ids,
        );
      }
    });

    test('fields replace those of the record, at the version that is wanted, and leave who did it', async () => {
      const { board } = serviceOf();
      const { version } = await board.create(caller(), { boardId: 'one', title: 'a' });
      const changed = await board.update(caller(), 'one', { title: 'b' }, { version });
      assert.deepEqual(changed.view, { boardId: 'one', title: 'b', updatedBy: 'ada' });
      await assert.rejects(board.update(caller(), 'one', { title: 'c' }, { version }), {
        details: { currentVersion: changed.version },
      });
      await assert.rejects(board.update(caller('other'), 'one', { title: 'c' }), { code: 'not_found' });
      const stored = await readRecord(store.entries, boards, tenant, 'one');
      assert.deepEqual(stored?.record, { title: 'b', team: 'none' });
      const now = stored.updated?.at;
      await changes.run(systemCaller('rekey', stored), async (change) => {
        change.reseal((await change.find(boards, 'one'))!, stored.record);
      });
      const resealed = await readRecord(store.entries, boards, tenant, 'one');
      assert.deepEqual(resealed?.updated, { at: now, by: 'ada' });
    });

    test('a record is created only while its parent is there, and seen', async () => {
      const { board, task } = serviceOf();
      await board.create(caller('a'), { boardId: 'one', title: 'a' });
      const { view } = await task.create(caller('a'), { boardId: 'one', title: 'do' });
      assert.equal(view.boardId, 'one');
      for (const [workspace, boardId] of [
        ['b', 'one'],
        ['a', 'two'],
      ] as const) {
        const refusal = { code: 'not_found', message: 'There is no board with this id.' };
        await assert.rejects(task.create(caller(workspace), { boardId, title: 'do' }), refusal);
        await assert.rejects(task.assertParentSeen(caller(workspace), boardId), refusal);
      }
      await task.assertParentSeen(caller('a'), 'one');
    });

    test('what belongs to a removed record is removed after it; its id is free again when that is done', async () => {
      const { board, task } = serviceOf();
      const inA = caller('a');
      await board.create(inA, { boardId: 'one', title: 'a' });
      await board.create(caller('b'), { boardId: 'other', title: 'a' });
      const kept = await task.create(caller('b'), { boardId: 'other', title: 'do' });
      await changes.run(inA, async (change) => {
        for (let i = 0; i < 250; i++) change.create(tasks, { boardId: 'one', title: i % 9 ? 'do' : 'kept' });
      });
      const races = [1, 2, 3].map((n) => task.create(inA, { boardId: 'one', title: `late ${n}` }));
      const [, ...late] = await Promise.allSettled([board.remove(inA, 'one'), ...races]);
      for (const each of late) if (each.status === 'rejected') assert.equal(each.reason.code, 'not_found');
      await assert.rejects(board.get(inA, 'one'), { code: 'not_found' });
      const again = () => board.create(inA, { boardId: 'one', title: 'new' });
      await assert.rejects(again(), { code: 'conflict', message: /is still being removed/ });

      const [due, ...others] = (await store.entries.due('tombstone', Date.now(), 100)).filter(
        (entry) => entry.tenant === tenant,
      );
      assert.ok(due && others.length === 0);
      const start = await store.feed.last();
      const removals = { changes, entries: store.entries, kinds: [tasks] };
      await removeChildren(removals, fromEntry(tombstones, due));
      assert.deepEqual(
        await store.entries.list('task', tenant, { limit: 10 }).then((all) => all.map(({ id }) => id)),
        [kept.view.taskId],
      );
      assert.equal(await store.feed.last(), start, 'tasks have no feed');
      await again();
      assert.deepEqual(await task.list(inA, { limit: 10 }), []);
      assert.equal(await store.entries.get({ kind: 'tombstone', tenant, id: 'board/one' }), null);
    });
  });
}

const byBoard = { boardId: ({ boardId }: Task) => boardId, title: ({ title }: Task) => title };

test('a literal whose parent does not fit it is refused by name', () => {
  const of = (parent: object) =>
    resource<typeof tasksWire, Task>(tasksWire, {
      ...tasks,
      index: byBoard,
      parent: { ...boards, ...parent },
    });
  assert.throws(() => of({ isParent: false }), /kind task belong to board, whose literal must have isParent/);
  assert.throws(() => of({ boundary: 'tenant' }), /kind task need the boundary of their parent board/);
  assert.throws(() => of({ access: NOBODY }), /kind task need access, since their parent board has it/);
});

const NOBODY = { of: () => null, readers: () => [], forbidden: 'forbidden' } as const;

type BoardLiteral = Parameters<typeof resource<typeof boardsWire, Board>>[1];
type TaskLiteral = Parameters<typeof resource<typeof tasksWire, Task>>[1];
type Fits<Given, Literal> = Given extends Literal ? 'compiles' : 'does not compile';

test('a literal that lacks what its wire declares does not compile', () => {
  // The types say it: another text here is an error of the compiler
  const compiled: readonly [
    Fits<Omit<BoardLiteral, 'update'>, BoardLiteral>,
    Fits<Omit<BoardLiteral, 'index'> & { index: Pick<BoardLiteral['index'], 'team'> }, BoardLiteral>,
    Fits<Omit<BoardLiteral, 'index'> & { index: { title: () => string } }, BoardLiteral>,
    Fits<Omit<BoardLiteral, 'access'> & { access: typeof NOBODY }, BoardLiteral>,
    Fits<Omit<TaskLiteral, 'parent'>, TaskLiteral>,
  ] = ['does not compile', 'compiles', 'does not compile', 'does not compile', 'does not compile'];
  assert.equal(compiled.length, 5);
});
