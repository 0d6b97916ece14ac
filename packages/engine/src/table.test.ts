import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Table } from './table.ts';

const step = fc.record({ on: fc.nat(), id: fc.integer({ min: 0, max: 150 }), value: fc.option(fc.nat()) });

test('every version stays what it was, whichever versions others are made from', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const versions = [{ table: Table.of<number>(), model: new Map<string, number>() }];
      for (const { on, id, value } of steps) {
        const { table, model } = versions[on % versions.length]!;
        const next = new Map(model);
        if (value === null) next.delete(`n${id}`);
        else next.set(`n${id}`, value);
        versions.push({ table: table.with(`n${id}`, value ?? undefined), model: next });
      }
      for (const { table, model } of versions) {
        assert.deepEqual(table.toJSON(), Object.fromEntries(model));
        assert.equal(table.size, model.size);
        for (let id = 0; id <= 150; id++) assert.equal(table.get(`n${id}`), model.get(`n${id}`));
        assert.deepEqual(Table.of(table.toJSON()).toJSON(), table.toJSON());
      }
    }),
    { numRuns: 100 },
  );
});

test('says what changed between two versions', () => {
  const ids = Array.from({ length: 200 }, (_, index) => `n${index}`);
  const before = Table.of(Object.fromEntries(ids.map((id) => [id, 0])));
  const after = before.with('n3', 1).with('n150', undefined).with('new', 5);
  assert.deepEqual(after.changedFrom(before), new Set(['n3', 'n150', 'new']));
  assert.deepEqual(before.changedFrom(before), new Set());
});
