import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { limiter } from '@gantry/limiter';
import type { StoredEvent } from '@gantry/protocol';
import { eventProjection } from './sse-frames.ts';
import { EventStream } from './sse-stream.ts';
import { createStreams, type EventSource } from './sse-streams.ts';
import { directWriter } from './sse-writer.ts';

const KEEP_ALIVE_MS = 15_000;

class FakeSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly writable = true;
  readonly writableLength = 0;
  write(bytes: Buffer | string): boolean {
    this.written.push(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes));
    return true;
  }
  destroy(): void {}
}

const event = (sequence: number): StoredEvent => ({
  sequence,
  type: 'node.completed',
  at: 0,
  nodeId: 'a',
  causationId: null,
  payload: '{"nodeId":"a"}',
  sealed: null,
});

/** Streams on a run that commits when told to. */
function setup() {
  const listeners = new Map<string, (events: readonly StoredEvent[]) => void>();
  const streams = createStreams();
  const source: EventSource = {
    subscribe({ runId }, listener) {
      assert.ok(!listeners.has(runId), 'one subscription per run');
      listeners.set(runId, listener);
      return () => listeners.delete(runId);
    },
  };
  return {
    streams,
    listeners,
    async open(runId: string) {
      const socket = new FakeSocket();
      const stream: EventStream = new EventStream({
        key: { tenant: 't', runId },
        runs: { events: async () => [] },
        response: { end() {} },
        socket,
        writer: directWriter(socket, eventProjection(runId, ['updates']), 'updates'),
        pages: limiter({ max: 2 }),
        cursor: 0,
        eventsPerWrite: Number.POSITIVE_INFINITY,
        onClose: () => streams.remove(runId, stream),
        onError: (error) => assert.fail(String(error)),
      });
      streams.add(source, { tenant: 't', runId }, stream);
      stream.catchUp();
      await new Promise(setImmediate);
      return socket;
    },
  };
}

test('a frame is made once and shared by all readers of the run', async () => {
  const world = setup();
  const [a, b] = [await world.open('r'), await world.open('r')];
  world.listeners.get('r')!([event(0)]);
  assert.equal(a.written.length, 1);
  assert.equal(a.written[0], b.written[0], 'the very same bytes');
  assert.match(a.written[0]!.toString(), /^id: 0\nevent: node\.completed\ndata: \{.*\}\n\n$/);
});

test('readers of other runs hear nothing, and the last one leaving ends the subscription', async () => {
  const world = setup();
  const [a, b, other] = [await world.open('r'), await world.open('r'), await world.open('s')];
  world.listeners.get('r')!([event(0)]);
  assert.deepEqual(other.written, []);
  assert.equal(world.streams.size, 3);
  a.emit('close');
  assert.ok(world.listeners.has('r'));
  b.emit('close');
  assert.ok(!world.listeners.has('r'));
  assert.equal(world.streams.size, 1);
});

test('one timer keeps all streams alive, and only while there are any', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const world = setup();
  const [a, b] = [await world.open('r'), await world.open('s')];
  t.mock.timers.tick(KEEP_ALIVE_MS);
  for (const socket of [a, b]) assert.deepEqual(socket.written.map(String), [':keepalive\n\n']);
  a.emit('close');
  t.mock.timers.tick(KEEP_ALIVE_MS);
  assert.equal(a.written.length, 1);
  assert.equal(b.written.length, 2);
  b.emit('close');
  t.mock.timers.tick(KEEP_ALIVE_MS);
  assert.equal(b.written.length, 2);
});
