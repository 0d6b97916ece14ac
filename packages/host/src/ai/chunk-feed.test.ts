import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmittedEvent } from '@gantry/engine';
import { createRedactions } from '../redaction/redactions.ts';
import { ChunkFeed } from './chunk-feed.ts';

function feedTo(tell: ConstructorParameters<typeof ChunkFeed>[0]['tell'], timers: (() => void)[] = []) {
  return new ChunkFeed({
    channel: 'c',
    tenant: 'acme',
    tell,
    redactor: () => createRedactions().of('acme'),
    clock: {
      elapsedMs: () => 0,
      after(_ms: number, run: () => void) {
        timers.push(run);
        return () => {};
      },
    } as never,
    mergeMs: () => 50,
  });
}

const textOf = (events: readonly EmittedEvent[]) => events.map(({ payload }) => payload.chunk).join('');

test('a feed that ends while it tells has told all, and tells nothing after it', async () => {
  const told: (readonly EmittedEvent[])[] = [];
  const timers: (() => void)[] = [];
  let taken = Promise.withResolvers<{ won: true }>();
  const tell = (events: readonly EmittedEvent[]) => {
    told.push(events);
    return taken.promise;
  };
  const feed = feedTo(tell, timers);
  void feed.push('one ');
  void feed.push('two');
  const ended = feed.end();
  taken.resolve({ won: true });
  taken = Promise.withResolvers();
  assert.equal(textOf(await ended), 'two');
  for (const run of timers) run();
  assert.deepEqual(told.map(textOf), ['one ']);
});

test('more text than one commit takes is waited for, unless the run accepts none', async () => {
  for (const accepted of [{ won: true } as const, null]) {
    const told: (readonly EmittedEvent[])[] = [];
    const commit = Promise.withResolvers<void>();
    const feed = feedTo(async (events) => {
      told.push(events);
      await commit.promise;
      return accepted;
    });
    const text = '0123456789'.repeat(10_000);
    const first = feed.push(text.slice(0, 70_000));
    assert.ok(first, 'the reader waits');
    commit.resolve();
    await first;
    await feed.push(text.slice(70_000));
    const left = await feed.end();
    assert.equal((accepted ? told.map(textOf).join('') : '') + textOf(left), text);
    for (const events of told) assert.ok(events.length <= 4, `${events.length} events in a commit`);
  }
});
