/** Topics read as streams. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import type { QueueMessage } from './queue.ts';
import type { Users } from './queue-user-contract.ts';

async function next(messages: AsyncIterator<QueueMessage>): Promise<unknown> {
  const { value, done } = await messages.next();
  return done ? assert.fail('the stream ended') : value.payload;
}

/** A tenant has room for some thousand messages. */
const PACE_MS = 50;

const iterate = (messages: AsyncIterable<QueueMessage>) => messages[Symbol.asyncIterator]();

export function queueStreams(user: Users): void {
  test('from the beginning: all that is kept, consumed or not, then what comes', async () => {
    const { publish, take, ack, stream } = user();
    for (let n = 0; n < 3; n++) await publish('t', n);
    for (const delivery of await take('t')) await ack(delivery);
    const ending = new AbortController();
    const messages = iterate(stream('t', { fromBeginning: true, follow: true, signal: ending.signal }));
    for (let n = 0; n < 3; n++) assert.equal(await next(messages), n);
    const waiting = next(messages);
    await publish('t', 'live');
    assert.equal(await waiting, 'live');
    const last = messages.next();
    ending.abort();
    assert.equal((await last).done, true);
  });

  test('reading takes nothing from groups, and ends where it is told to', async () => {
    const { publish, take, stream } = user();
    for (let n = 0; n < 60; n++) await publish('t', n);
    const seen: unknown[] = [];
    for await (const { payload, messageId } of stream('t', { fromBeginning: true, follow: false })) {
      seen.push(payload);
      assert.ok(messageId);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 60 }, (_, n) => n),
    );
    assert.equal((await take('t', { messagesMax: 100 })).length, 60);
    for await (const _ of stream('empty', { fromBeginning: true, follow: false }))
      assert.fail('there is nothing');
  });

  test('without the beginning, only what comes after', async () => {
    const { publish, stream } = user();
    await publish('t', 'before');
    for await (const _ of stream('t', { fromBeginning: false, follow: false }))
      assert.fail('that was before');
    const messages = iterate(stream('t', { fromBeginning: false, follow: true }));
    // The stream begins when it is first asked, which nobody can see from outside: publish until it is heard
    const first = next(messages);
    let heard = false;
    void first.finally(() => {
      heard = true;
    });
    for (let n = 0; !heard; n++) {
      await publish('t', n);
      await Promise.race([first, later(PACE_MS)]);
    }
    assert.equal(typeof (await first), 'number');
    await messages.return?.();
  });
}
