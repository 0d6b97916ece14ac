/** Filters and orders mean the same in every backend as in plain JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import type { Filter, SortField } from '../capabilities/documents/filter.ts';
import { parseFilter } from '../capabilities/documents/parse-filter.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { matches, sorted } from '../testing/filter-model.ts';
import type { DocumentsPort } from './documents.ts';

const C = { space: 'test', collection: 'c' };

/** Few names and values, so that they meet; what means something to a query language is among them. */
const name = fc.constantFrom('a', 'b', '0', 'a b', "'", '[0]', 'é', '__proto__', '%', ')--');
const text = fc.constantFrom(
  '',
  'a',
  'B',
  'b',
  '1',
  'é',
  '\uffff',
  '🙂',
  "' or 1=1 --",
  '"',
  '\\',
  '%',
  'null',
  '$a',
);
const scalar: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.constantFrom<Json[]>(null, true, false),
  fc.constantFrom(0, -0, 1, -1, 1.5, 10, 2 ** 53, 2 ** 60, 1e21, 1e300, 5e-324, 0.1 + 0.2),
);
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
  { weight: 2, arbitrary: fc.dictionary(name, scalar, { maxKeys: 2 }) },
);
const document = fc.dictionary(name, value, { maxKeys: 4 });
const field = fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => names.join('.'));
const comparable = fc.oneof(text, fc.constantFrom(0, 1, 1.5, 10, 2 ** 60, 1e21, -1));

const condition = fc.oneof(
  value.map((each): JsonObject => ({ $eq: each })),
  value.map((each): JsonObject => ({ $ne: each })),
  fc.array(value, { maxLength: 3 }).map((each): JsonObject => ({ $in: each })),
  fc.array(value, { maxLength: 3 }).map((each): JsonObject => ({ $nin: each })),
  fc.boolean().map((each): JsonObject => ({ $exists: each })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), comparable)
    .map(([is, each]): JsonObject => ({ [is]: each })),
);

const { filter } = fc.letrec<{ filter: JsonObject }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(
        field,
        fc.oneof(
          condition,
          condition.map(($not) => ({ $not })),
          value,
        ),
      )
      .map(([at, is]) => ({ [at]: is })),
    fc.dictionary(field, condition, { maxKeys: 3 }),
    fc
      .tuple(fc.constantFrom('$and', '$or'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
      .map(([joint, of]) => ({ [joint]: of })),
    tie('filter').map(($not) => ({ $not })),
  ),
}));

const sort: fc.Arbitrary<SortField[]> = fc.uniqueArray(
  fc.record({ path: fc.array(name, { minLength: 1, maxLength: 2 }), descending: fc.boolean() }),
  { maxLength: 3, selector: ({ path }) => path.join('.') },
);

/** `$a` as a value is text like any other; as a name inside a value it is refused before it gets here. */
const withIds = (documents: readonly JsonObject[]): JsonObject[] =>
  documents.map((each, index) => ({ ...each, id: `d${index}` }));

async function filled(port: DocumentsPort, documents: readonly JsonObject[]): Promise<string> {
  const tenant = freshTenant();
  const inserted = documents.map((each) => ({ id: String(each.id), document: each }));
  await port.insert({ ...C, documents: inserted, typed: false }, write(tenant));
  return tenant;
}

async function walk(
  port: DocumentsPort,
  tenant: string,
  query: { filter: Filter; sort: SortField[]; limit: number },
) {
  const seen: JsonObject[] = [];
  let next: string | null = null;
  do {
    const page = await port.find({ ...C, ...query, after: next }, read(tenant));
    seen.push(...page.documents);
    next = page.next;
  } while (next !== null);
  return seen;
}

export function filterProperties(port: () => DocumentsPort): void {
  test('filters, orders and pages answer like the model', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 1, maxLength: 8 }).map(withIds),
        fc.array(fc.tuple(filter, sort), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        async (documents, queries, limit) => {
          const tenant = await filled(port(), documents);
          for (const [asked, order] of queries) {
            const parsed = parseFilter(asked, 'nosql_filter_rejected');
            const expected = sorted(
              documents.filter((each) => matches(each, parsed)),
              order,
            );
            const found = await walk(port(), tenant, { filter: parsed, sort: order, limit });
            assert.deepEqual(
              found.map(({ id }) => id),
              expected.map(({ id }) => id),
              JSON.stringify({ asked, order }),
            );
            const counted = await port().count({ ...C, filter: parsed }, read(tenant));
            assert.equal(counted, expected.length);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
}
