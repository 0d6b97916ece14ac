import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmittedEvent } from '@gantry/engine';
import { createRedactions } from '../redaction/redactions.ts';
import { ChunkFeed } from './chunk-feed.ts';

test('a feed that ends while it tells has told all, and tells nothing after it', async () => {
  const told: (readonly EmittedEvent[])[] = [];
  const timers: (() => void)[] = [];
  let taken = Promise.withResolvers<{ won: true }>();
  const feed = new ChunkFeed({
    channel: 'c',
    tell(events) {
      told.push(events);
      return taken.promise;
    },
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
  feed.push('one ');
  feed.push('two');
  const ended = feed.end();
  taken.resolve({ won: true });
  taken = Promise.withResolvers();
  const textOf = (events: readonly EmittedEvent[]) => events.map(({ payload }) => payload.chunk).join('');
  assert.equal(textOf(await ended), 'two');
  for (const run of timers) run();
  assert.deepEqual(told.map(textOf), ['one ']);
});
