import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { limiter } from '@gantry/limiter';
import type { StoredEvent } from '@gantry/protocol';
import fc from 'fast-check';
import { EventStream } from './sse-stream.ts';

const event = (sequence: number, type = 'node.completed'): StoredEvent => ({
  sequence,
  type,
  at: 0,
  nodeId: null,
  causationId: null,
  payload: '{}',
  sealed: null,
});

/** A reader's socket, as far as a stream looks at it. */
class FakeSocket extends EventEmitter {
  readonly writable = true;
  writableLength = 0;
  write(): boolean {
    return true;
  }
  destroy(): void {
    this.emit('close');
  }
}

/** A log that grows, and a stream on it whose reads finish when the test says so. Frames of `frameBytes` are unsent. */
function setup(cursor: number, { eventsPerWrite = Number.POSITIVE_INFINITY, frameBytes = 0 } = {}) {
  const log: StoredEvent[] = [];
  const seen: number[] = [];
  const reads: (() => void)[] = [];
  let closed = 0;
  const socket = new FakeSocket();
  const stream = new EventStream({
    key: { tenant: 't', runId: 'r' },
    runs: {
      events: (_tenant, _runId, from, limit) =>
        new Promise((resolve) =>
          reads.push(() => resolve(log.filter((e) => e.sequence >= from).slice(0, limit))),
        ),
    },
    response: { end() {} },
    socket,
    writer: {
      write(events) {
        seen.push(...events.map((e) => e.sequence));
        socket.writableLength += events.length * frameBytes;
      },
      flush() {},
    },
    pages: limiter({ max: 2 }),
    cursor,
    eventsPerWrite,
    onClose: () => closed++,
    onError: (error) => assert.fail(String(error)),
  });
  return {
    log,
    seen,
    socket,
    stream,
    closedTimes: () => closed,
    /** Lets reads that are under way finish, and what follows from them. */
    async finishReads() {
      do {
        await new Promise(setImmediate);
        for (const finish of reads.splice(0)) finish();
        await new Promise(setImmediate);
      } while (reads.length > 0);
    },
    commit(count: number, type?: string) {
      const batch = Array.from({ length: count }, (_, i) => event(log.length + i, type));
      log.push(...batch);
      return batch;
    },
  };
}

type Step = 'commit' | 'commit-unheard' | 'finish-reads' | 'slow' | 'drain';

test('every event arrives once and in order, however commits, reads and slow readers interleave', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.constantFrom<Step>('commit', 'commit-unheard', 'finish-reads', 'slow', 'drain'),
          fc.integer({ min: 1, max: 300 }),
        ),
        { maxLength: 30 },
      ),
      fc.integer({ min: 0, max: 5 }),
      async (steps, cursor) => {
        const world = setup(cursor);
        world.stream.catchUp();
        for (const [step, count] of steps) {
          if (step === 'commit') world.stream.receive(world.commit(count), new Map());
          // Announcements may come late; a later one shows the gap.
          if (step === 'commit-unheard') world.commit(count);
          if (step === 'finish-reads') await world.finishReads();
          if (step === 'slow') world.socket.writableLength = 2_000_000;
          if (step === 'drain') {
            world.socket.writableLength = 0;
            world.socket.emit('drain');
          }
        }
        world.socket.writableLength = 0;
        world.socket.emit('drain');
        world.stream.receive(world.commit(1, 'run.completed'), new Map());
        for (let i = 0; i < 100 && world.closedTimes() === 0; i++) await world.finishReads();
        const expected = world.log.map((e) => e.sequence).filter((sequence) => sequence >= cursor);
        assert.deepEqual(world.seen, expected);
        assert.equal(world.closedTimes(), 1);
      },
    ),
  );
});

test('a slow reader is not written to until it has drained', async () => {
  const world = setup(0);
  world.stream.catchUp();
  await world.finishReads();
  world.socket.writableLength = 2_000_000;
  world.stream.receive(world.commit(1), new Map());
  world.stream.receive(world.commit(5), new Map());
  assert.deepEqual(world.seen, [0]);
  world.socket.writableLength = 0;
  world.socket.emit('drain');
  await world.finishReads();
  assert.deepEqual(world.seen, [0, 1, 2, 3, 4, 5]);
});

test('frames larger than their events are bounded by bytes, in the log and live', async () => {
  const frameBytes = 900_000;
  const world = setup(0, { eventsPerWrite: 1, frameBytes });
  world.commit(150);
  world.stream.catchUp();
  const drain = async (): Promise<void> => {
    await world.finishReads();
    assert.ok(world.socket.writableLength <= 3 * frameBytes, `${world.socket.writableLength} bytes unsent`);
    world.socket.writableLength = 0;
    world.socket.emit('drain');
    await world.finishReads();
  };
  while (world.seen.length < 150) await drain();
  await drain();
  world.stream.receive([...world.commit(20), ...world.commit(1, 'run.completed')], new Map());
  while (world.closedTimes() === 0) await drain();
  assert.deepEqual(
    world.seen,
    world.log.map(({ sequence }) => sequence),
  );
});

test('a reader ahead of the log is let go when the run ends', async () => {
  const world = setup(50);
  world.stream.catchUp();
  world.stream.receive(world.commit(3), new Map());
  await world.finishReads();
  world.stream.receive(world.commit(1, 'run.failed'), new Map());
  assert.deepEqual(world.seen, []);
  assert.equal(world.closedTimes(), 1);
});

test('a reader who leaves is forgotten once', async () => {
  const world = setup(0);
  world.stream.catchUp();
  world.socket.emit('close');
  world.stream.end();
  await world.finishReads();
  world.stream.receive(world.commit(1), new Map());
  assert.equal(world.closedTimes(), 1);
  assert.deepEqual(world.seen, []);
});
