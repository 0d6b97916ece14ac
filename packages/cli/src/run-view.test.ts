import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '@gantry/client';
import { createPainter } from './painter.ts';
import { advance, emptyView, type Line, type RunView, renderLine, renderLive } from './run-view.ts';
import { coloured, duration, plain, printable } from './style.ts';
import { memoryOutput } from './testing/test-host.ts';

const event = (
  type: string,
  nodeId?: string,
  payload: StreamEvent['payload'] = {},
  atMs = 0,
): StreamEvent => ({
  type,
  runId: 'r',
  sequence: 0,
  payload,
  timestamp: new Date(atMs).toISOString(),
  ...(nodeId && { nodeId }),
});

function watch(...events: StreamEvent[]): { view: RunView; lines: Line[] } {
  let view = emptyView({ a: 'Fetch' });
  const lines: Line[] = [];
  for (const next of events) {
    const step = advance(view, next);
    view = step.view;
    lines.push(...step.lines);
  }
  return { view, lines };
}

test('a node is under way from its start to its end, and its time is measured when not told', () => {
  const started = event('node.started', 'a', {}, 1000);
  assert.deepEqual([...watch(started).view.running], [['a', 1000]]);
  const { view, lines } = watch(started, event('node.completed', 'a', {}, 3500));
  assert.equal(view.running.size, 0);
  assert.deepEqual(lines, [{ mark: 'done', name: 'Fetch', durationMs: 2500 }]);
});

test('retries, waits and unknown events', () => {
  const lastError = { code: 'timeout', message: 'too slow' };
  const { view, lines } = watch(
    event('node.started', 'b'),
    event('node.retried', 'b', { attempt: 1, delayMs: 2000, lastError }),
    event('vendor.acme.thing', 'b'),
    event('node.suspended', 'a', { kind: 'approval' }),
  );
  assert.deepEqual(lines, [
    { mark: 'retry', name: 'b', note: 'attempt 2 in 2.0s; timeout: too slow' },
    { mark: 'waiting', name: 'Fetch', note: 'waits for approval' },
  ]);
  assert.equal(view.waiting, 'waiting for approval');
  assert.deepEqual(renderLive(view, { now: 0, tick: 0, columns: 80 }, plain), ['  ⠋ waiting for approval']);
});

test('a failure tells its root in the pack', () => {
  const failure = (details: StreamEvent['payload']) =>
    watch(event('node.failed', 'a', { error: { code: 'c', message: 'no lines', details } })).lines[0]?.note;
  assert.equal(failure({ at: 'index.mjs:195:22' }), 'c: no lines (at index.mjs:195:22)');
  assert.equal(failure({ at: 'noon' }), 'c: no lines');
});

test('finished lines: plain without escapes, coloured with the same text', () => {
  const { view, lines } = watch(event('node.completed', 'a', { durationMs: 12 }));
  const line = lines[0] ?? assert.fail();
  assert.equal(renderLine(view, line, plain), '  ✓ Fetch           12ms');
  assert.equal(printable(renderLine(view, line, coloured)), '  ✓ Fetch           12ms');
  assert.notEqual(renderLine(view, line, coloured), renderLine(view, line, plain));
});

test('live lines spin, count time, and never exceed the terminal', () => {
  const starts = Array.from({ length: 12 }, (_, i) => event('node.started', `node-${i}-${'x'.repeat(60)}`));
  const { view } = watch(...starts);
  const lines = renderLive(view, { now: 5000, tick: 1, columns: 30 }, plain);
  assert.equal(lines.length, 11);
  assert.ok(lines.every((line) => line.startsWith('  ⠙ ') && line.length <= 30));
  assert.equal(lines.at(-1), '  ⠙ and 2 more');
  const one = watch(event('node.started', 'a')).view;
  assert.deepEqual(renderLive(one, { now: 61_000, tick: 0, columns: 80 }, plain), [
    '  ⠋ Fetch          1m 1s',
  ]);
});

test('without a terminal nothing is ever drawn over', () => {
  const out = memoryOutput(false);
  const painter = createPainter(out);
  painter.live(['spinning']);
  painter.print(['done']);
  painter.close();
  assert.equal(out.text, 'done\n');
});

test('on a terminal final lines land above the block, which is erased at the end', () => {
  const out = memoryOutput(true);
  const painter = createPainter(out);
  painter.live(['one', 'two']);
  painter.print(['done']);
  painter.close();
  const ESC = '\u001b';
  assert.equal(
    out.text,
    `${ESC}[?25lone\ntwo\n${ESC}[2A${ESC}[0Jdone\none\ntwo\n${ESC}[2A${ESC}[0J${ESC}[?25h`,
  );
});

test('while a person types nothing is drawn, and what was printed meanwhile comes after', () => {
  const out = memoryOutput(true);
  const painter = createPainter(out);
  painter.hold();
  const before = out.text;
  painter.live(['spinning']);
  painter.print(['done']);
  assert.equal(out.text, before);
  painter.release();
  assert.match(out.text.slice(before.length), /done\n/);
  assert.ok(!out.text.includes('spinning'));
});

test('durations read as people say them', () => {
  assert.deepEqual([0, 999, 1000, 59_949, 59_950, 61_500, 3_600_000, 90_000_000, 400_000_000].map(duration), [
    '0ms',
    '999ms',
    '1.0s',
    '59.9s',
    '1m 0s',
    '1m 2s',
    '1h 0m',
    '25h 0m',
    '5d',
  ]);
});
