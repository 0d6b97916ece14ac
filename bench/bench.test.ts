import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { EVENTS_PER_RUN } from './bare/batch.ts';
import { residentMiB } from './children.ts';
import { isEmptyList } from './load/drain.ts';
import { eventSplitter, type StreamEvent } from './load/event-stream.ts';
import { parseAnswer } from './load/http.ts';
import { spreadOf } from './load/percentile.ts';
import { formatReport } from './report.ts';
import { startBare } from './servers.ts';
import { runLoad } from './throughput.ts';

test('the bare limit and the load generator agree on what was made durable', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-bench-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startBare(folder, 'fast');
  t.after(() => server.stop());
  const result = await runLoad(server, {
    connections: 8,
    durationMs: 200,
    requestsMax: Number.MAX_SAFE_INTEGER,
    body: '{"workflowId":"bench-three"}',
    followOneIn: 0,
    drainTimeoutMs: 60_000,
  });
  if (process.platform === 'linux') assert.ok((residentMiB(server.pid) ?? 0) > 10);
  await server.stop();

  const database = new DatabaseSync(path.join(folder, 'bare.db'), { readOnly: true });
  const { runs, events } = database
    .prepare('select count(distinct run_id) as runs, count(*) as events from events')
    .get() as { runs: number; events: number };
  database.close();
  assert.ok(result.created > 0);
  assert.equal(runs, result.created);
  assert.equal(events, result.created * EVENTS_PER_RUN);
  assert.deepEqual(result.refused, {});
  assert.ok(result.runsPerSecond <= result.createsPerSecond);
  assert.ok((result.createMs?.p50 ?? 0) > 0);
});

test('a number of requests is kept to exactly', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-bench-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startBare(folder, 'slow');
  t.after(() => server.stop());
  const request = {
    connections: 8,
    durationMs: 120_000,
    requestsMax: 100,
    followOneIn: 0,
    drainTimeoutMs: 60_000,
  };
  const result = await runLoad(server, { ...request, body: '{}' });
  assert.equal(result.created, 100);
  assert.ok((result.createMs?.p50 ?? 0) >= 6, 'a create waits for its commit');
});

test('answers are cut out of what arrives, however it is split', () => {
  const one = 'HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX: y\r\n\r\nhello';
  for (let cut = 0; cut < one.length; cut++) assert.equal(parseAnswer(Buffer.from(one.slice(0, cut))), null);
  const answer = parseAnswer(Buffer.from(`${one}HTTP/1.1 200`));
  assert.equal(answer?.status, 201);
  assert.equal(answer?.body.toString(), 'hello');
  assert.equal(answer?.end, one.length);
  assert.throws(() => parseAnswer(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /content-length/);
});

test('events are cut out of a chunked stream, however it is split', () => {
  const stream =
    '1f\r\nid: 0\nevent: run.started\ndata: {"a":1}\n\n\r\nd\r\n:keepalive\n\n\r\n2\r\nevent: b\ndata: 2\n\n\r\n0\r\n\r\n';
  const expected = [
    { name: 'run.started', data: '{"a":1}' },
    { name: 'b', data: '2' },
  ];
  for (let cut = 0; cut <= stream.length; cut++) {
    const events: StreamEvent[] = [];
    const split = eventSplitter((event) => events.push(event));
    split(stream.slice(0, cut));
    split(stream.slice(cut));
    assert.deepEqual(events, expected, `cut at ${cut}`);
  }
});

test('numbers are told as they are', () => {
  assert.equal(spreadOf([]), null);
  assert.deepEqual(spreadOf(Array.from({ length: 100 }, (_, index) => 100 - index)), { p50: 51, p99: 100 });
  assert.equal(isEmptyList('{"runs":[],"next":null}'), true);
  assert.equal(isEmptyList('{"runs":[{}]}'), false);
  assert.throws(() => isEmptyList('{}'), /not a list/);
  const table = formatReport({
    title: 'T',
    rows: [
      { name: 'a', 'x ms': 1234.5 },
      { name: 'bb', 'x ms': null },
    ],
  });
  assert.equal(table, 'T\nname     x ms\n----  -------\na     1,234.5\nbb          -');
});
