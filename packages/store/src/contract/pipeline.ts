import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CommitPipeline } from '../commit-pipeline.ts';
import type { CurrentStore } from '../contract.ts';
import type { CommitGroup, Write } from '../port.ts';
import * as make from './fixtures.ts';
import { bigText, MEGABYTE, TENANT } from './fixtures.ts';

export function pipelineContract(current: CurrentStore): void {
  describe('commit pipeline', () => {
    test('a bad group fails alone, whatever shares its batch', async () => {
      const { store } = current();
      const batches: number[] = [];
      const pipeline = new CommitPipeline({
        commit: (groups) => {
          batches.push(groups.length);
          return store.commit(groups);
        },
      });
      const settled = await Promise.allSettled([
        pipeline.commit([make.create('run-1'), make.putEntry('a', null)]),
        pipeline.commit([make.create('run-2'), make.putEntry('x'.repeat(513), null)]),
        pipeline.commit([make.append('run-1', 1)]),
        pipeline.commit([make.putEntry('a', null)]),
        pipeline.commit([make.create('run\0')]),
      ]);
      const outcomes = settled.map((each) => {
        if (each.status === 'rejected') return each.reason.code;
        return each.value.won ? 'won' : each.value.reason;
      });
      assert.deepEqual(outcomes, ['won', 'too_long', 'won', 'exists', 'invalid_text']);
      assert.deepEqual(batches, [5, 2, 1, 1, 3, 1, 2, 1, 1]);
      assert.equal(await store.runs.row(TENANT, 'run-2'), null);
    });

    for (const [what, bad] of Object.entries(BAD_WRITES)) {
      test(`${what} fails its group alone, in its batch and in those that are committed with it`, async () => {
        const { store } = current();
        const pipeline = new CommitPipeline(store);
        const through = [pipeline.commit.bind(pipeline), async (group: CommitGroup) => store.commit([group])];
        const settled = await Promise.allSettled(
          Array.from({ length: 60 }, (_, i) => {
            const rest = i % 7 === 3 ? [bad] : [];
            return through[i % 2]!([make.create(`run-${i}`), make.putEntry(`e-${i}`, null), ...rest]);
          }),
        );
        for (const [i, { status }] of settled.entries()) {
          const isBad = i % 7 === 3;
          assert.equal(status, isBad ? 'rejected' : 'fulfilled', `group ${i}`);
          assert.equal((await store.runs.row(TENANT, `run-${i}`)) === null, isBad, `run ${i}`);
          assert.equal((await store.entries.get(make.key(`e-${i}`))) === null, isBad, `entry ${i}`);
        }
        assert.deepEqual(await store.commit([[make.create('later')]]), [{ won: true }]);
      });
    }

    test('large groups are committed alone, one at a time, while small ones go on', async () => {
      const { store } = current();
      const batches: string[][] = [];
      const smallSent = Promise.withResolvers<void>();
      let large = 0;
      const pipeline = new CommitPipeline({
        async commit(groups) {
          const ids = groups.map(([write]) => idOf(write));
          batches.push(ids);
          if (!ids[0]?.startsWith('large')) {
            smallSent.resolve();
            return store.commit(groups);
          }
          assert.equal(++large, 1);
          await smallSent.promise;
          const results = await store.commit(groups);
          large--;
          return results;
        },
      });
      const ids = ['large-1', 'small-1', 'large-2', 'small-2'];
      const results = await Promise.all(
        ids.map((id) => {
          const body = id.startsWith('large') ? bigText(MEGABYTE, id) : '{}';
          return pipeline.commit([make.putEntry(id, null, { body })]);
        }),
      );
      await pipeline.drained();
      assert.ok(results.every(({ won }) => won));
      assert.deepEqual(batches, [['large-1'], ['small-1', 'small-2'], ['large-2']]);
      assert.equal((await store.entries.get(make.key('large-2')))?.body, bigText(MEGABYTE, 'large-2'));
    });

    test('each group that won is heard of once, after its caller', async () => {
      const { store } = current();
      const heard: string[] = [];
      const pipeline = new CommitPipeline(store, ([write]) => heard.push(`heard ${idOf(write)}`));
      const commit = async (...group: CommitGroup): Promise<void> => {
        const { won } = await pipeline.commit(group);
        heard.push(`${won ? 'won' : 'lost'} ${idOf(group[0])}`);
      };
      await Promise.all([commit(make.putEntry('a', null)), commit(make.putEntry('b', 7))]);
      await commit(make.putEntry('c', null));
      await pipeline.drained();
      assert.deepEqual(heard.slice(0, 3), ['won a', 'lost b', 'heard a']);
      assert.deepEqual(heard.slice(3), ['won c', 'heard c']);
    });
  });
}

const adjust = (delta: number): Write => ({ kind: 'adjust', key: make.key('counter'), delta });

/** The last two pass the checks of the port, and throw in the database. */
const BAD_WRITES: Readonly<Record<string, Write>> = {
  'an amount that is no integer': adjust(1.5),
  'an amount beyond safe integers': adjust(1e300),
  'an amount that is no number': adjust(Number.NaN),
  'a time that is no integer': make.putEntry('due', null, { dueAt: 0.5 }),
  'text in a column of numbers': make.idempotency('bad', { status: 'many' as never }),
  'a missing member': make.claimInvocation('bad', { nodeId: null as never }),
};

const idOf = (write: CommitGroup[number] | undefined): string =>
  write?.kind === 'putEntry' ? write.entry.id : '';
