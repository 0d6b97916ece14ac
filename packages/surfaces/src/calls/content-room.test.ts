import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ContentRoom } from './content-room.ts';

const roomOf = (bytesMax: number, heldMsMax = 60_000) =>
  new ContentRoom({ bytesMax, smallBytes: 1, heldMsMax });

/** Asks for room; `held` says whether it was given. */
function ask(room: ContentRoom, tenant: string, bytes: number) {
  const call = new AbortController();
  const state = { held: false, leave: () => call.abort(new Error('over')), entered: Promise.resolve() };
  const make = room.for({ tenant, signal: call.signal });
  state.entered = make(bytes).then(() => {
    state.held = true;
  });
  return state;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('never more than there is, never more than half for one tenant, and everybody gets a turn', async () => {
  const asking = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    bytes: fc.integer({ min: 2, max: 50 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(asking, { minLength: 1, maxLength: 30 }), async (wishes) => {
      const room = roomOf(100);
      const waiting = wishes.map((wish) => ({ ...wish, ask: ask(room, wish.tenant, wish.bytes) }));
      while (waiting.length > 0) {
        await settled();
        const inside = waiting.filter(({ ask }) => ask.held);
        const sum = (of: typeof inside) => of.reduce((total, { bytes }) => total + bytes, 0);
        assert.ok(inside.length > 0, 'somebody is inside');
        assert.ok(sum(inside) <= 100);
        for (const tenant of ['a', 'b', 'c'])
          assert.ok(sum(inside.filter((one) => one.tenant === tenant)) <= 50);
        const [first] = inside;
        first?.ask.leave();
        waiting.splice(waiting.indexOf(first!), 1);
      }
    }),
    { numRuns: 30 },
  );
});

test('what is small never waits; who gives up leaves the queue; what is never taken ends with its time', async () => {
  const room = roomOf(10);
  const [first, second] = [ask(room, 'a', 5), ask(room, 'a', 5)];
  const small = ask(room, 'a', 1);
  await Promise.all([first.entered, small.entered]);
  await settled();
  assert.equal(second.held, false);
  second.leave();
  await assert.rejects(second.entered, /over/);
  const third = ask(room, 'a', 5);
  await settled();
  assert.equal(third.held, false);
  first.leave();
  await third.entered;

  const short = roomOf(10, 20);
  await ask(short, 'a', 5).entered;
  // The timer of the room alone would not keep the test alive
  const alive = setTimeout(() => {}, 60_000);
  await ask(short, 'a', 5).entered;
  clearTimeout(alive);
});
