import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RunKey, StoreChange } from '../port.ts';
import { decodeNotice, encodeNotices } from './notices.ts';

const PAYLOAD_BYTES_LIMIT = 8_000;
const MISSED: StoreChange = { runs: [], kinds: [], missed: true };

const text = fc.string({ unit: 'grapheme', maxLength: 100 });
const run = fc.tuple(text, text).map(([tenant, runId]): RunKey => ({ tenant, runId }));
const runs = fc.array(run, { size: 'large' });
const change = fc.record({ runs, kinds: fc.array(text) });

test('notices together say what changed, and each fits a payload', () => {
  fc.assert(
    fc.property(change, (change) => {
      const notices = encodeNotices('sender', change);
      for (const notice of notices) assert.ok(Buffer.byteLength(notice) < PAYLOAD_BYTES_LIMIT);
      const heard = notices.map((notice) => decodeNotice(notice, 'reader'));
      assert.deepEqual(
        heard.flatMap((each) => each?.runs ?? []),
        change.runs,
      );
      assert.deepEqual(
        heard.flatMap((each) => each?.kinds ?? []),
        change.kinds,
      );
    }),
  );
});

test('notices are filled to the limit', () => {
  const runs = Array.from({ length: 100 }, () => ({ tenant: 't', runId: 'x'.repeat(1_000) }));
  assert.equal(encodeNotices('sender', { runs, kinds: [] }).length, 15);
});

test('nothing changed is no notice', () => {
  assert.deepEqual(encodeNotices('sender', { runs: [], kinds: [] }), []);
});

test('a name that fits no payload becomes a call to look at everything', () => {
  const runs = [
    { tenant: 't', runId: 'small' },
    { tenant: 't', runId: 'x'.repeat(PAYLOAD_BYTES_LIMIT) },
  ];
  const notices = encodeNotices('sender', { runs, kinds: [] });
  assert.deepEqual(
    notices.map((notice) => decodeNotice(notice, 'reader')),
    [MISSED],
  );
});

test('our own notice is not heard; words we do not know mean anything', () => {
  const [own] = encodeNotices('self', { runs: [], kinds: ['mail'] });
  assert.equal(decodeNotice(own ?? '', 'self'), null);
  for (const payload of ['', 'null', '{', '{}', '["x"]', '["x",[["t"]]]', '["x",[1]]', '["x",[["t",2]]]']) {
    assert.deepEqual(decodeNotice(payload, 'self'), MISSED, payload);
  }
});
