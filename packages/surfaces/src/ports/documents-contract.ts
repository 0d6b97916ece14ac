/** What every backend of the documents port must do: I1 to I5. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { EVERYTHING, type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import type { DocumentLimits, DocumentsPort, WhenNone } from './documents.ts';
import { columnTests } from './documents-columns-contract.ts';
import { filterProperties } from './documents-filter-contract.ts';
import { memberTests } from './documents-members-contract.ts';
import { roomTests } from './documents-room-contract.ts';
import { tableTests } from './documents-table-contract.ts';

export interface OpenedDocuments {
  portOf(limits: DocumentLimits): DocumentsPort;
  close(): Promise<void>;
}

const LIMITS: DocumentLimits = {
  documentsMax: 50,
  documentBytesMax: 2_000,
  collectionsMax: 4,
  quotaBytes: 20_000,
  full: 'table_row_limit_reached',
  absent: null,
};

/** Every test is a tenant of its own. */
export function documentsContract(name: string, open: () => Promise<OpenedDocuments>): void {
  describe(`documents port: ${name}`, () => {
    let opened: OpenedDocuments | null = null;
    const portOf = (limits: DocumentLimits): DocumentsPort =>
      opened?.portOf(limits) ?? assert.fail('the port is not open');
    const port = () => portOf(LIMITS);
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    documents(port);
    changes(port);
    memberTests(port);
    isolation(port);
    pages(port);
    once(port);
    atOnce(port);
    absence(() => portOf({ ...LIMITS, absent: 'table_not_found' }));
    roomTests(port, LIMITS);
    columnTests(port);
    filterProperties(port);
    tableTests(portOf);
  });
}

const C = { space: 'test', collection: 'c' };
const all = { ...C, filter: EVERYTHING, sort: [], after: null, limit: 100 };
const doc = (id: string, members: JsonObject = {}) => ({ id, document: { id, ...members } });
const inserting = (...documents: { id: string; document: JsonObject }[]) => ({
  ...C,
  documents,
  typed: false,
});
const matching = (filter: Filter, matchesMax = 100) => ({ ...C, filter, matchesMax });
const ANSWER: WhenNone = { do: 'answer' };

function documents(port: () => DocumentsPort): void {
  test('keeps what it was given, and answers nothing where there is nothing', async () => {
    const tenant = freshTenant();
    assert.equal(await port().get({ ...C, id: 'a' }, read(tenant)), null);
    assert.deepEqual(await port().find(all, read(tenant)), { documents: [], next: null });
    assert.equal(await port().count(all, read(tenant)), 0);
    const document = {
      id: 'a',
      n: 1.5e300,
      big: 2 ** 60,
      t: 'é"\\\n🙂',
      z: null,
      f: false,
      o: { b: [1, { c: [] }], '': 0, 'a.b': '$x', $k: 1 },
      ['__proto__']: { x: 1 },
    };
    await port().insert(inserting({ id: 'a', document }), write(tenant));
    assert.deepEqual(await port().get({ ...C, id: 'a' }, read(tenant)), document);
    assert.deepEqual((await port().find(all, read(tenant))).documents, [document]);
    assert.equal(await port().count(all, read(tenant)), 1);
  });

  test('documents are found by their ids, also by several, and whatever the member is', async () => {
    const tenant = freshTenant();
    await port().insert(
      inserting(doc('a'), doc('b', { n: 1 }), { id: '5', document: { id: 5 } }),
      write(tenant),
    );
    const count = (filter: Filter) => port().count({ ...C, filter }, read(tenant));
    const byId = (...ids: string[]): Filter => ({ kind: 'id', ids });
    assert.deepEqual(
      await Promise.all([count(byId('5')), count(byId('a', 'b', 'x')), count(byId())]),
      [1, 2, 0],
    );
    assert.equal(await count({ kind: 'all', of: [byId('a', 'b'), isEqual(['n'], 1)] }), 1);
    assert.equal(await count({ kind: 'not', of: byId('a') }), 2);
  });

  test('I2: an id is used once; a refused list leaves nothing', async () => {
    const tenant = freshTenant();
    await port().insert(inserting(doc('a')), write(tenant));
    await assert.rejects(port().insert(inserting(doc('b'), doc('a')), write(tenant)), {
      code: 'conflict',
      message: /"a"/,
    });
    assert.equal(await port().count(all, read(tenant)), 1);
    assert.equal(await port().get({ ...C, id: 'b' }, read(tenant)), null);
  });
}

function changes(port: () => DocumentsPort): void {
  test('a patch replaces members of all that match, and counts what it changed', async () => {
    const tenant = freshTenant();
    await port().insert(
      inserting(doc('a', { n: 1, o: { x: 1, y: 2 } }), doc('b', { n: 1 }), doc('c')),
      write(tenant),
    );
    const patch = { o: { x: 1 }, 'odd"name': null, ['__proto__']: 1 };
    const change = { ...matching(isEqual(['n'], 1)), patch, whenNone: ANSWER };
    assert.deepEqual(await port().patch(change, write(tenant)), { matched: 2, modified: 2, id: 'a' });
    assert.deepEqual(await port().patch(change, write(tenant)), { matched: 2, modified: 0, id: 'a' });
    assert.deepEqual(await port().get({ ...C, id: 'a' }, read(tenant)), { id: 'a', n: 1, ...patch });
    assert.deepEqual(await port().get({ ...C, id: 'c' }, read(tenant)), { id: 'c' });
  });

  test('a patch sets inner members by their path, in objects that are there or not', async () => {
    const tenant = freshTenant();
    await port().insert(inserting(doc('a', { n: 1, o: { x: 1, y: 2 } }), doc('b', { n: 1 })), write(tenant));
    const inner = (patch: JsonObject, n = 1) =>
      port().patch({ ...matching(isEqual(['n'], n)), patch, whenNone: ANSWER }, write(tenant));
    const patch = { m: 3, 'o.x': 9, 'o.deep.z': [1], '__proto__.p': 1 };
    assert.equal((await inner(patch)).modified, 2);
    assert.equal((await inner(patch)).modified, 0);
    const rest = { n: 1, m: 3, ['__proto__']: { p: 1 } };
    const found = (id: string) => port().get({ ...C, id }, read(tenant));
    assert.deepEqual(await found('a'), { id: 'a', o: { x: 9, y: 2, deep: { z: [1] } }, ...rest });
    assert.deepEqual(await found('b'), { id: 'b', o: { x: 9, deep: { z: [1] } }, ...rest });
    assert.equal(await port().count({ ...C, filter: isEqual(['o', 'deep', 'z'], [1]) }, read(tenant)), 2);
    for (const there of [5, null, [1], 'text']) {
      await inner({ s: there });
      await assert.rejects(inner({ 'n.x': 1, 's.x': 1 }), {
        code: 'validation_error',
        message: /not an object/,
      });
      await assert.rejects(inner({ 's.x': 1 }), {
        code: 'validation_error',
        message: /"s" is not an object/,
      });
    }
  });

  test('a patch that meets nothing answers, refuses or inserts', async () => {
    const tenant = freshTenant();
    const change = { ...matching(isEqual(['n'], 1), 1), patch: { m: 2 } };
    const none = { matched: 0, modified: 0, id: null };
    assert.deepEqual(await port().patch({ ...change, whenNone: ANSWER }, write(tenant)), none);
    assert.equal(await port().describe(C, read(tenant)), null, 'no collection is made');
    await assert.rejects(port().patch({ ...change, whenNone: { do: 'refuse' } }, write(tenant)), {
      code: 'not_found',
    });
    const insert: WhenNone = { do: 'insert', ...doc('a', { n: 1, m: 2 }), typed: false, indexes: ['n'] };
    assert.deepEqual(await port().patch({ ...change, whenNone: insert }, write(tenant)), {
      ...none,
      id: 'a',
    });
    const again = { ...change, patch: { m: 3 }, whenNone: insert };
    assert.deepEqual(await port().patch(again, write(tenant)), { matched: 1, modified: 1, id: 'a' });
    assert.deepEqual(await port().get({ ...C, id: 'a' }, read(tenant)), { id: 'a', n: 1, m: 3 });
  });

  test('deletes all that match, and says how many; too many are refused', async () => {
    const tenant = freshTenant();
    await port().insert(inserting(doc('a', { n: 1 }), doc('b', { n: 1 }), doc('c')), write(tenant));
    const ones = isEqual(['n'], 1);
    const refused = { code: 'validation_error' };
    await assert.rejects(port().delete(matching(ones, 1), write(tenant)), refused);
    await assert.rejects(
      port().patch({ ...matching(ones, 1), patch: { n: 2 }, whenNone: ANSWER }, write(tenant)),
      refused,
    );
    assert.equal(await port().count({ ...C, filter: ones }, read(tenant)), 2);
    assert.deepEqual(await port().delete(matching(ones, 2), write(tenant)), { deleted: 2 });
    assert.deepEqual(await port().delete(matching(ones, 2), write(tenant)), { deleted: 0 });
    assert.equal(await port().count(all, read(tenant)), 1);
  });
}

function isolation(port: () => DocumentsPort): void {
  test('I1: tenants, spaces and collections share nothing, for every method', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await port().insert(inserting(doc('a', { secret: 1 })), write(ours));
    const elsewhere = [
      { place: C, tenant: theirs },
      { place: { ...C, space: 'other' }, tenant: ours },
      { place: { ...C, collection: 'other' }, tenant: ours },
    ];
    for (const { place, tenant } of elsewhere) {
      const change = { ...place, filter: EVERYTHING, matchesMax: 9 };
      assert.equal(await port().get({ ...place, id: 'a' }, read(tenant)), null);
      assert.deepEqual((await port().find({ ...all, ...place }, read(tenant))).documents, []);
      const after = JSON.stringify([0]);
      assert.deepEqual((await port().find({ ...all, ...place, after }, read(tenant))).documents, []);
      assert.equal(await port().count(change, read(tenant)), 0);
      assert.equal(await port().describe(place, read(tenant)), null);
      const patched = await port().patch({ ...change, patch: { x: 1 }, whenNone: ANSWER }, write(tenant));
      assert.equal(patched.matched, 0);
      assert.deepEqual(await port().delete(change, write(tenant)), { deleted: 0 });
      await port().insert({ ...place, documents: [doc('a', { theirs: 1 })], typed: true }, write(tenant));
    }
    assert.deepEqual(await port().get({ ...C, id: 'a' }, read(ours)), { id: 'a', secret: 1 });
    assert.equal((await port().describe(C, read(ours)))?.columns, null);
  });
}

function pages(port: () => DocumentsPort): void {
  const names = async (tenant: string, limit: number, between: (page: number) => Promise<unknown>) => {
    const seen: string[] = [];
    let next: string | null = null;
    let page = 0;
    do {
      const found = await port().find({ ...all, after: next, limit }, read(tenant));
      assert.ok(found.documents.length <= limit);
      seen.push(...found.documents.map(({ id }) => String(id)));
      next = found.next;
      await between(++page);
    } while (next !== null);
    return seen;
  };

  test('I2: pages hold each document once, in the order of insertion, while others come and go', async () => {
    const tenant = freshTenant();
    const ids = ['d', 'a', 'c', 'b', 'e', 'f', 'g'];
    for (const id of ids) await port().insert(inserting(doc(id)), write(tenant));
    const nothing = async () => null;
    for (const limit of [1, 3, 7, 8]) assert.deepEqual(await names(tenant, limit, nothing), ids);
    const seen = await names(tenant, 2, async (page) => {
      if (page !== 1) return;
      await port().delete(matching({ kind: 'in', path: ['id'], values: ['a', 'c'] }), write(tenant));
      await port().patch(
        { ...matching(isEqual(['id'], 'd')), patch: { n: 1 }, whenNone: ANSWER },
        write(tenant),
      );
      await port().insert(inserting(doc('late')), write(tenant));
    });
    assert.deepEqual(seen, ['d', 'a', 'b', 'e', 'f', 'g', 'late']);
  });
}

function once(port: () => DocumentsPort): void {
  test('I3: one invocation acts once, and is answered alike', async () => {
    const tenant = freshTenant();
    const call = write(tenant);
    await Promise.all([1, 2, 3].map(() => port().insert(inserting(doc('a')), call)));
    assert.equal(await port().count(all, read(tenant)), 1);
    const removal = write(tenant);
    for (let time = 0; time < 2; time++)
      assert.deepEqual(await port().delete(matching(EVERYTHING), removal), { deleted: 1 });
    const other = write(tenant, { id: removal.invocation.id, method: 'other' });
    await assert.rejects(port().delete(matching(EVERYTHING), other), { code: 'idempotency_key_mismatch' });
  });

  test('I3: a refused write leaves no trace, and may succeed later', async () => {
    const tenant = freshTenant();
    const call = write(tenant);
    const change = {
      ...matching(isEqual(['id'], 'a')),
      patch: { n: 1 },
      whenNone: { do: 'refuse' } as const,
    };
    await assert.rejects(port().patch(change, call), { code: 'not_found' });
    await port().insert(inserting(doc('a')), write(tenant));
    assert.equal((await port().patch(change, call)).matched, 1);
  });
}

function atOnce(port: () => DocumentsPort): void {
  test('I4: of writers that come at once with one id or one key, one inserts', async () => {
    const tenant = freshTenant();
    const inserts = await Promise.allSettled(
      Array.from({ length: 8 }, () => port().insert(inserting(doc('a')), write(tenant))),
    );
    assert.equal(inserts.filter(({ status }) => status === 'fulfilled').length, 1);
    const keyed = { ...C, collection: 'keyed', filter: isEqual(['k'], 1), matchesMax: 1 };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => {
        const whenNone: WhenNone = {
          do: 'insert',
          ...doc(`d${n}`, { k: 1, n }),
          typed: false,
          indexes: ['k'],
        };
        return port().patch({ ...keyed, patch: { n }, whenNone }, write(tenant));
      }),
    );
    assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
    assert.equal(answers.filter(({ matched }) => matched === 0).length, 1);
    assert.equal(await port().count({ ...keyed, filter: EVERYTHING }, read(tenant)), 1);
  });
}

function absence(port: () => DocumentsPort): void {
  test('a collection that is not there is told apart from an empty one, where that is asked for', async () => {
    const tenant = freshTenant();
    const change = { ...matching(EVERYTHING), patch: { n: 1 } };
    const asked = [
      () => port().get({ ...C, id: 'a' }, read(tenant)),
      () => port().find(all, read(tenant)),
      () => port().count(all, read(tenant)),
      () => port().patch({ ...change, whenNone: ANSWER }, write(tenant)),
      () => port().delete(change, write(tenant)),
    ];
    const refused = { code: 'table_not_found', details: { table: C.collection } };
    const patch = () => port().patch({ ...change, whenNone: { do: 'refuse' } }, write(tenant));
    for (const ask of [...asked, patch]) await assert.rejects(ask, refused);
    await port().insert(inserting(doc('a')), write(tenant));
    await port().delete(change, write(tenant));
    const answers = await Promise.all(asked.map((ask) => ask()));
    const none = { matched: 0, modified: 0, id: null };
    assert.deepEqual(answers, [null, { documents: [], next: null }, 0, none, { deleted: 0 }]);
    await assert.rejects(patch, { code: 'not_found' });
    const insert: WhenNone = { do: 'insert', ...doc('b'), typed: false, indexes: [] };
    const made = { ...change, collection: 'made', whenNone: insert };
    assert.equal((await port().patch(made, write(tenant))).id, 'b');
  });
}
