import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startServer } from './children.ts';
import { runReads } from './load/reads.ts';

test('reads are counted by what was answered, and the rest is told', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-bench-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'texts.json');
  writeFileSync(file, JSON.stringify({ '/a': '{"a":1}', '/b': '{"é":2}' }));
  const script = path.join(import.meta.dirname, 'bare/bytes-server.ts');
  const server = await startServer({ args: [script, '--file', file], readyPath: '/' });
  t.after(() => server.stop());
  const answer = await fetch(`http://127.0.0.1:${server.port}/b`);
  assert.equal(await answer.text(), '{"é":2}');
  const result = await runReads({
    port: server.port,
    apiKey: 'none',
    paths: ['/a', '/b'],
    connections: 4,
    durationMs: 200,
  });
  assert.ok(result.readMs.length > 0);
  assert.equal(result.refused, 0);
  const counted = result.readMs.length / result.readsPerSecond;
  assert.ok(counted >= 0.19 && counted < 60, 'over the time that it took');
});
