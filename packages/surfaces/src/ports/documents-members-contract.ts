/** The order of members, the same in every backend: I5. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import type { DocumentsPort } from './documents.ts';

const C = { space: 'test', collection: 'members' };
const all = { ...C, filter: EVERYTHING, sort: [], after: null, limit: 100 };

export function memberTests(port: () => DocumentsPort): void {
  const told = async (tenant: string): Promise<string[]> => {
    const { documents } = await port().find(all, read(tenant));
    const ids = documents.map(({ id }) => String(id));
    const each = await Promise.all(ids.map((id) => port().get({ ...C, id }, read(tenant))));
    assert.deepEqual(
      each.map((one) => JSON.stringify(one)),
      documents.map((one) => JSON.stringify(one)),
    );
    return documents.map((one) => JSON.stringify(one));
  };
  const insert = (tenant: string, document: JsonObject & { id: string }) =>
    port().insert({ ...C, documents: [{ id: document.id, document }], typed: false }, write(tenant));

  test('I5: members are in the order of their names, in lists and in objects inside too', async () => {
    const tenant = freshTenant();
    const inner = { long: 1, b: [{ zz: 1, y: 2, Aa: 3 }], a: { cc: 1, d: 2 } };
    await insert(tenant, { z: 1, id: 'a', name: 'x', é: 2, B: inner, ['__proto__']: { y: 1, x: 2 } });
    const sortedInner = '{"a":{"cc":1,"d":2},"b":[{"Aa":3,"y":2,"zz":1}],"long":1}';
    const proto = '"__proto__":{"x":2,"y":1}';
    assert.deepEqual(await told(tenant), [`{"B":${sortedInner},${proto},"id":"a","name":"x","z":1,"é":2}`]);
    const patch = { mm: 1, 'B.a': { q: 1, pp: 2 } };
    const change = { ...C, filter: EVERYTHING, matchesMax: 1, patch, whenNone: { do: 'answer' } as const };
    await port().patch(change, write(tenant));
    const patchedInner = sortedInner.replace('{"cc":1,"d":2}', '{"pp":2,"q":1}');
    assert.deepEqual(await told(tenant), [
      `{"B":${patchedInner},${proto},"id":"a","mm":1,"name":"x","z":1,"é":2}`,
    ]);
  });

  test('I5: however they were written', async () => {
    const tenant = freshTenant();
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 6 });
    const of = (order: readonly string[]): JsonObject =>
      Object.fromEntries(order.map((name) => [name, name.length]));
    let documents = 0;
    await fc.assert(
      fc.asyncProperty(names, async (order) => {
        const [one, other] = [`${documents++}`, `${documents++}`];
        await insert(tenant, { o: of(order), id: one });
        await insert(tenant, { id: other, o: of(order.toReversed()) });
        const [left, right] = await Promise.all(
          [one, other].map((id) => port().get({ ...C, id }, read(tenant))),
        );
        assert.equal(JSON.stringify(left?.o), JSON.stringify(of(order.toSorted())));
        assert.equal(JSON.stringify(right?.o), JSON.stringify(left?.o));
      }),
      { numRuns: 20 },
    );
  });
}
