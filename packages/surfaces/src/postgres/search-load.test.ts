/** The largest call, and calls that make an index at once. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { CALL_BYTES_MAX, SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import type { SearchPort } from '../ports/search.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresSearch } from './search.ts';

const find = async (port: SearchPort, tenant: string, text: string): Promise<string[]> => {
  const query = { index: 'i', query: parseQuery(text), k: 10, filter: EVERYTHING };
  return (await port.query(query, read(tenant))).map(({ id }) => id);
};

/** Hardly a word and hardly a gram twice: the most work that so many bytes can make. */
function largest() {
  const documents = 8;
  const characters = Math.floor((CALL_BYTES_MAX / documents - 100) / 3);
  return Array.from({ length: documents }, (_, index) => {
    const text = Array.from({ length: characters }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((index * 131 + at * (7_919 + index)) % 20_000)),
    );
    return { id: `d${index}`, fields: { text: text.join('') } };
  });
}

describe('search in PostgreSQL', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres | null = null;
  const port = () => postgresSearch(opened?.database ?? assert.fail('not open'), SEARCH_LIMITS);
  before(async () => {
    opened = await openTestPostgres();
  });
  after(() => opened?.close());

  test('the largest call is done within its time, also a second time', async () => {
    const tenant = freshTenant();
    const documents = largest();
    for (let round = 0; round < 2; round++)
      assert.deepEqual(await port().index({ index: 'i', documents }, write(tenant)), { indexed: 8 });
    assert.deepEqual(await find(port(), tenant, documents[3]!.fields.text.slice(1_000, 1_040)), ['d3']);
  });

  test('calls that make an index at once are all found, by words and by parts', async () => {
    const tenant = freshTenant();
    const names = ['north', 'south', 'east', 'west'];
    await Promise.all(
      names.map((name) =>
        port().index(
          { index: 'i', documents: [{ id: name, fields: { text: `${name}erly wind` } }] },
          write(tenant),
        ),
      ),
    );
    assert.deepEqual((await find(port(), tenant, 'wind')).toSorted(), names.toSorted());
    for (const name of names) assert.deepEqual(await find(port(), tenant, `${name}er`), [name]);
  });
});
