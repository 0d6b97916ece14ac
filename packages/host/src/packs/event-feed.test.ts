import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmittedEvent } from '@gantry/engine';
import { EMPTY_REDACTOR } from '@gantry/protocol/redaction';
import { createRedactions } from '../redaction/redactions.ts';
import { EventFeed } from './event-feed.ts';

const feedOf = (write: ConstructorParameters<typeof EventFeed>[0]): EventFeed =>
  new EventFeed(write, () => EMPTY_REDACTOR);

test('events are written in order and in batches, one batch at a time', async () => {
  const batches: (readonly EmittedEvent[])[] = [];
  let writing = 0;
  const feed = feedOf(async (events) => {
    assert.equal(++writing, 1);
    await Promise.resolve();
    batches.push(events);
    writing--;
    return true;
  });
  for (let n = 0; n < 250; n++) feed.log('info', `line ${n}`);
  await feed.drained();
  assert.ok(batches.length >= 3 && batches.every(({ length }) => length <= 100));
  const messages = batches.flat().map(({ payload }) => payload.message);
  assert.deepEqual(
    messages,
    Array.from({ length: 250 }, (_, n) => `line ${n}`),
  );
});

test('a node that tells without end is cut off, with a word about it', async () => {
  let last: EmittedEvent | undefined;
  let count = 0;
  const feed = feedOf(async (events) => {
    count += events.length;
    last = events.at(-1);
    return true;
  });
  for (let n = 0; n < 7_000; n++) feed.log('debug', 'x'.repeat(20_000));
  await feed.drained();
  assert.equal(count, 5_000);
  assert.match(String(last?.payload.message), /left out/);
});

test('unknown levels, bytes and odd events become something readable', async () => {
  const written: EmittedEvent[] = [];
  const feed = feedOf(async (events) => written.push(...events) > 0);
  feed.log('shout', 'hi', new Uint8Array([1, 2]));
  await feed.emit('text');
  await feed.emit({ type: 'output.chunk', data: { chunk: { a: 1 }, meta: { finishReason: 'stop' } } });
  assert.deepEqual(
    written.map(({ payload }) => payload),
    [
      { level: 'info', message: 'hi', fields: { value: 'AQI=' } },
      { level: 'info', message: 'event', fields: { value: 'text' } },
      { chunk: '{"a":1}', isLast: false, meta: { finishReason: 'stop' } },
    ],
  );
});

test('long texts are cut wherever they stand', async () => {
  const written: EmittedEvent[] = [];
  const feed = feedOf(async (events) => written.push(...events) > 0);
  const text = 'x'.repeat(20_000);
  feed.log('info', text, { text, deep: [{ [text]: text }], many: Array.from({ length: 50 }, () => text) });
  await feed.emit({ type: text, data: { text } });
  await feed.emit({ type: 'output.chunk', data: { chunk: text } });
  assert.deepEqual(
    written.map(({ payload }) => String(payload.message ?? payload.chunk).length),
    [8_192, 8_192, 20_000],
  );
  const texts = JSON.stringify(written.slice(0, 2)).match(/x+/g) ?? [];
  assert.ok(texts.every(({ length }) => length <= 8_192));
  assert.ok(JSON.stringify(written[0]).length < 80_000);
});

test('what is told during a pause waits in order, and goes on after it', async () => {
  let isPaused = true;
  const written: unknown[] = [];
  const feed = feedOf(async (events) => {
    if (!isPaused) written.push(...events.map(({ payload }) => payload.message));
    return !isPaused;
  });
  feed.log('info', 'first');
  await feed.drained();
  feed.log('info', 'second');
  await feed.drained();
  assert.deepEqual(written, []);
  assert.equal(feed.untold().untold?.length, 2);
  isPaused = false;
  feed.log('info', 'third');
  await feed.drained();
  assert.deepEqual(written, ['first', 'second', 'third']);
  assert.deepEqual(feed.untold(), {});
});

test('a pause holds back only so much', async () => {
  for (const [message, most] of [
    ['x', 200],
    ['x'.repeat(8_000), 140],
  ] as const) {
    const feed = feedOf(async () => false);
    for (let n = 0; n < 1_000; n++) {
      feed.log('info', message);
      await feed.drained();
    }
    const { length } = feed.untold().untold ?? [];
    assert.ok(length > 100 && length <= most, `${length}`);
  }
});

test('a secret that chunks cut in two is redacted, by channel, and nothing stays behind', async () => {
  const secret = 'sk-0123456789abcdef';
  const redactions = createRedactions();
  const told = new Map<unknown, string>();
  const write = async (events: readonly EmittedEvent[]): Promise<boolean> => {
    for (const { payload } of events) {
      const { channel, chunk } = payload;
      told.set(channel, (told.get(channel) ?? '') + chunk);
    }
    return true;
  };
  const feed = new EventFeed(write, () => redactions.of('acme'));
  const say = (chunk: string, channel?: string, isLast = false): Promise<void> =>
    feed.emit({ type: 'output.chunk', data: { chunk, isLast, ...(channel && { channel }) } });
  await say('before ');
  redactions.note('acme', secret, 's');
  for (const unit of secret) {
    await say(unit);
    await say(unit, 'other');
    redactions.note('acme', `another ${unit} secret`, 'more');
  }
  await say(' after sk-01', undefined, true);
  await say(' and sk-', 'other');
  await feed.end();
  assert.equal(told.get(undefined), 'before [REDACTED:s] after sk-01');
  assert.equal(told.get('other'), '[REDACTED:s] and sk-');
});
