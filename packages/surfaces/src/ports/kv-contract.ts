/** What every backend of the kv port must do: I1 to I4. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { expectOneWrite } from '../calls/call-journal.ts';
import { assertSealed, freshTenant, NOW, read, write } from '../testing/calls.ts';
import type { KvPort } from './kv.ts';
import { kvModelProperty } from './kv-model-contract.ts';
import { kvRoomTests } from './kv-room-contract.ts';
import { kvSurfaceTests } from './kv-surface-contract.ts';

export interface OpenedKv {
  /** With room for so many bytes for each tenant. */
  portOf(quotaBytes: number): KvPort;
  close(): Promise<void>;
}

const QUOTA_BYTES = 1_000_000;

/** Every test is a tenant of its own. */
export function kvContract(name: string, open: () => Promise<OpenedKv>): void {
  describe(`kv port: ${name}`, () => {
    let opened: OpenedKv | null = null;
    const portOf = (quotaBytes: number): KvPort =>
      opened?.portOf(quotaBytes) ?? assert.fail('the port is not open');
    const port = (): KvPort => portOf(QUOTA_BYTES);
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    entries(port);
    expiry(port);
    listing(port);
    atomicity(port);
    once(port);
    kvRoomTests(portOf);
    kvSurfaceTests(port);
    test('behaves like a map with times', () => kvModelProperty(port()));
  });
}

const at = (key: string, namespace = '') => ({ namespace, key });
const kept = (key: string, value: KvValue, expiresAt: number | null = null) => ({
  ...at(key),
  value,
  expiresAt,
});
type KvValue = Parameters<KvPort['put']>[0]['value'];
const all = (namespace = '') => ({ namespace, prefix: '', after: null, limit: 100 });

function entries(port: () => KvPort): void {
  test('keeps, replaces and deletes', async () => {
    const tenant = freshTenant();
    assert.equal(await port().get(at('a'), read(tenant)), null);
    assert.deepEqual(await port().put(kept('a', { n: [1, null] }), write(tenant)), { replaced: false });
    assert.deepEqual(await port().put(kept('a', 'two'), write(tenant)), { replaced: true });
    assert.deepEqual(await port().get(at('a'), read(tenant)), { value: 'two', expiresAt: null });
    assert.deepEqual(await port().delete(at('a'), write(tenant)), { deleted: true });
    assert.deepEqual(await port().delete(at('a'), write(tenant)), { deleted: false });
    assert.equal(await port().get(at('a'), read(tenant)), null);
  });

  test('a kept null is a value', async () => {
    const tenant = freshTenant();
    await port().put(kept('a', null), write(tenant));
    assert.deepEqual(await port().get(at('a'), read(tenant)), { value: null, expiresAt: null });
  });

  test('I1: tenants and namespaces share nothing, whatever the key', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await port().put(kept('k', 'ours'), write(ours));
    await port().put({ ...kept('k', 'apart'), namespace: 'n' }, write(ours));
    assert.equal(await port().get(at('k'), read(theirs)), null);
    assert.deepEqual(await port().list(all(), read(theirs)), []);
    assert.deepEqual(await port().delete(at('k'), write(theirs)), { deleted: false });
    assert.equal((await port().increment({ ...at('k'), delta: 1 }, write(theirs))).value, 1);
    assert.equal((await port().get(at('k'), read(ours)))?.value, 'ours');
    assert.deepEqual(await port().list(all('n'), read(ours)), ['k']);
    assert.equal((await port().get(at('k', 'n'), read(ours)))?.value, 'apart');
  });
}

function expiry(port: () => KvPort): void {
  test('I2: is gone from the millisecond on, for every method', async () => {
    const tenant = freshTenant();
    const end = NOW + 1_000;
    await port().put(kept('a', 41, end), write(tenant));
    assert.equal((await port().get(at('a'), read(tenant, end - 1)))?.expiresAt, end);
    assert.equal(await port().get(at('a'), read(tenant, end)), null);
    assert.deepEqual(await port().list(all(), read(tenant, end - 1)), ['a']);
    assert.deepEqual(await port().list(all(), read(tenant, end)), []);
    assert.deepEqual(await port().increment({ ...at('a'), delta: 2 }, write(tenant, { now: end })), {
      value: 2,
      previous: 0,
    });
    assert.equal((await port().get(at('a'), read(tenant, end)))?.expiresAt, null, 'a new entry stays');
  });

  test('a put without a time keeps for good; counters and swaps keep the time', async () => {
    const tenant = freshTenant();
    const end = NOW + 1_000;
    await port().put(kept('a', 1, end), write(tenant));
    await port().increment({ ...at('a'), delta: 1 }, write(tenant));
    await port().compareAndSwap({ ...at('a'), expected: 2, value: 3 }, write(tenant));
    assert.deepEqual(await port().get(at('a'), read(tenant)), { value: 3, expiresAt: end });
    await port().put(kept('a', 4), write(tenant));
    assert.deepEqual(await port().get(at('a'), read(tenant, end + 1)), { value: 4, expiresAt: null });
  });
}

/** Everything that means something to LIKE, GLOB, regular expressions, paths or SQL, and the ends of UTF-8. */
const PREFIXES = [
  '%',
  '_',
  '%_',
  '*',
  '?',
  '[a-z]',
  '[',
  ']',
  '^',
  '$',
  '.*',
  '\\',
  '\\%',
  "'",
  "''",
  '"',
  '`',
  ';--',
  "' or 1=1--",
  '/',
  '../',
  ' ',
  '\t',
  '\n',
  'é',
  'e\u0301',
  '\u{10ffff}',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '🙂',
  'İ',
  '0',
  '-',
];

function listing(port: () => KvPort): void {
  test('lists in the order of UTF-8 bytes, page by page', async () => {
    const tenant = freshTenant();
    const keys = ['a', 'B', 'b', 'é', '\uffff', '🙂', 'a\u0001', 'aa'];
    await Promise.all(keys.map((key) => port().put(kept(key, 0), write(tenant))));
    const sorted = keys.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
    const seen: string[] = [];
    for (let last: string | null = null; ; last = seen.at(-1) ?? null) {
      const page = await port().list({ ...all(), after: last, limit: 3 }, read(tenant));
      seen.push(...page);
      if (page.length < 3) break;
    }
    assert.deepEqual(seen, sorted);
  });

  test('nothing in a prefix has a meaning of its own', async () => {
    const tenant = freshTenant();
    const keys = ['plain', ...PREFIXES.map((prefix) => `${prefix}x`)];
    await Promise.all(keys.map((key) => port().put(kept(key, 0), write(tenant))));
    for (const prefix of PREFIXES) {
      const found = await port().list({ ...all(), prefix }, read(tenant));
      const expected = keys.filter((key) => key.startsWith(prefix));
      assert.deepEqual(found.toSorted(), expected.toSorted(), JSON.stringify(prefix));
    }
  });
}

function atomicity(port: () => KvPort): void {
  test('I4: increments that come at once all count', async () => {
    const tenant = freshTenant();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => port().increment({ ...at('n'), delta: 1 }, write(tenant))),
    );
    assert.deepEqual(
      answers.map(({ value }) => value).toSorted((a, b) => a - b),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  });

  test('I4: of swaps that expect the same, one wins', async () => {
    const tenant = freshTenant();
    await port().put(kept('a', { x: 1, y: [2] }), write(tenant));
    const swaps = Array.from({ length: 20 }, (_, index) =>
      port().compareAndSwap({ ...at('a'), expected: { y: [2], x: 1 }, value: index }, write(tenant)),
    );
    const answers = await Promise.all(swaps);
    const winner = answers.findIndex(({ swapped }) => swapped);
    assert.equal(answers.filter(({ swapped }) => swapped).length, 1);
    assert.equal((await port().get(at('a'), read(tenant)))?.value, winner);
  });

  test('a stale swap changes nothing and says what is there; null stands for nothing', async () => {
    const tenant = freshTenant();
    const swap = (expected: KvValue, value: KvValue) =>
      port().compareAndSwap({ ...at('a'), expected, value }, write(tenant));
    assert.deepEqual(await swap('no', 1), { swapped: false, actual: null });
    assert.equal(await port().get(at('a'), read(tenant)), null);
    assert.deepEqual(await swap(null, 1), { swapped: true });
    assert.deepEqual(await swap(null, 2), { swapped: false, actual: 1 });
    assert.deepEqual(await swap([1], 2), { swapped: false, actual: 1 });
    await swap(1, 'x'.repeat(4_000));
    assert.deepEqual(await swap('y', 2), { swapped: false, actual: 'x'.repeat(4_000) });
    await swap('x'.repeat(4_000), 'x'.repeat(4_095));
    assert.deepEqual(await swap('y', 2), { swapped: false }, 'a large one is left out');
  });

  test('adds only to numbers, and only what stays exact', async () => {
    const tenant = freshTenant();
    await port().put(kept('text', 'x'), write(tenant));
    await port().put(kept('big', Number.MAX_SAFE_INTEGER), write(tenant));
    for (const key of ['text', 'big'])
      await assert.rejects(port().increment({ ...at(key), delta: 1 }, write(tenant)), {
        code: 'validation_error',
      });
    assert.deepEqual(await port().increment({ ...at('big'), delta: -1 }, write(tenant)), {
      value: Number.MAX_SAFE_INTEGER - 1,
      previous: Number.MAX_SAFE_INTEGER,
    });
  });
}

function once(port: () => KvPort): void {
  test('I3: one invocation acts once, at once or later, and is answered alike', async () => {
    const tenant = freshTenant();
    const call = write(tenant, { method: 'kvStorage.atomicIncrement', input: { key: 'n' } });
    const step = { ...at('n'), delta: 5 };
    const answers = await Promise.all([1, 2, 3].map(() => port().increment(step, call)));
    answers.push(await port().increment(step, { ...call, now: NOW + 60_000 }));
    for (const answer of answers) assert.deepEqual(answer, { value: 5, previous: 0 });
    assert.equal((await port().get(at('n'), read(tenant)))?.value, 5);
  });

  test('I3: a second write of one call fails, and is not answered from the record of the first', async () => {
    const tenant = freshTenant();
    const call = write(tenant);
    expectOneWrite(call.invocation);
    const entry = (key: string) => ({ ...at(key), value: 1, expiresAt: null });
    await port().put(entry('a'), call);
    await assert.rejects(port().put(entry('b'), call), /makes a second write in one call/);
    assert.equal(await port().get(at('b'), read(tenant)), null);
  });

  test('I3: an answer that is sealed on record is read with the key of the host alone', async () => {
    const tenant = freshTenant();
    await port().put(kept('a', 'x'), write(tenant));
    await assertSealed(tenant, (call) => port().compareAndSwap({ ...at('a'), expected: 1, value: 2 }, call));
  });

  test('I3: another call in the place of a recorded one is refused, and both are named', async () => {
    const tenant = freshTenant();
    const place = { id: 'same' };
    await port().put(kept('a', 1), write(tenant, { ...place, method: 'kvStorage.put', input: 1 }));
    const other = write(tenant, { ...place, method: 'kvStorage.delete', input: 1 });
    await assert.rejects(port().delete(at('a'), other), {
      code: 'idempotency_key_mismatch',
      message: /was kvStorage\.put .* and is kvStorage\.delete now/,
    });
    const changed = write(tenant, { ...place, method: 'kvStorage.put', input: 2 });
    assert.deepEqual(await port().put(kept('a', 2), changed), { replaced: false });
    assert.equal((await port().get(at('a'), read(tenant)))?.value, 1);
    const theirs = write(freshTenant(), { ...place, method: 'kvStorage.delete', input: 1 });
    assert.deepEqual(await port().delete(at('a'), theirs), { deleted: false }, 'ids are apart by tenant');
  });

  test('I3: a refused write leaves no trace, and may succeed later', async () => {
    const tenant = freshTenant();
    await port().put(kept('a', 'x'), write(tenant));
    const call = write(tenant);
    await assert.rejects(port().increment({ ...at('a'), delta: 1 }, call));
    await port().delete(at('a'), write(tenant));
    assert.equal((await port().increment({ ...at('a'), delta: 1 }, call)).value, 1);
  });
}
