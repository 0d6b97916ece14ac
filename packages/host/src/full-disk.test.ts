/** A disk that fills up under load: a clear refusal, reads go on, nothing is corrupt afterwards. */
import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createClient } from '@gantry/client';
import { node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

/** `ulimit -f` counts KiB in bash: no file of this process may grow past it. */
const FILE_KIB_MAX = 2_048;

const big = workflow('big', [node('a', 'core.noop')], { variables: [{ name: 'text', type: 'string' }] });

test('a full disk refuses new runs, keeps serving, and loses nothing accepted', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await writeFile(path.join(folder.path, 'big.json'), JSON.stringify(big));
  const options = { dataDir: path.join(folder.path, 'data'), workflowsDir: folder.path };
  const limited = await startHostProcess({
    ...options,
    wrapper: ['bash', '-c', `ulimit -f ${FILE_KIB_MAX}; trap '' XFSZ; exec "$0" "$@"`],
  });
  t.after(() => limited.kill());
  const accepted: string[] = [];
  let refusal: { status: number; body: { error: string; message: string } } | undefined;
  // Small ones fill what large ones leave, so that nothing fits any more
  for (const words of [10_000, 100]) {
    refusal = undefined;
    for (let i = 0; i < 500 && !refusal; i++) {
      const response = await fetch(`${limited.url}/v1/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ workflowId: 'big', inputs: { text: `${i} `.repeat(words) } }),
      });
      const body: { runId: string; error: string; message: string } = JSON.parse(await response.text());
      if (response.status === 201) accepted.push(body.runId);
      else refusal = { status: response.status, body };
    }
  }
  assert.ok(refusal, 'the disk never filled');
  assert.equal(refusal.status, 503, JSON.stringify(refusal.body));
  assert.equal(refusal.body.error, 'storage_unavailable');
  assert.equal((await fetch(`${limited.url}/readyz`)).status, 503);
  const reading = createClient({ baseUrl: limited.url, apiKey: TEST_KEY });
  assert.equal((await reading.runs.get(accepted[0]!)).runId, accepted[0]);
  await limited.kill();

  const host = await startHostProcess(options);
  const client = createClient({ baseUrl: host.url, apiKey: TEST_KEY });
  for (const runId of accepted) assert.equal((await client.runs.wait(runId)).status, 'completed');
  assert.equal(await host.stop(), 0);
});

test('a data folder that cannot be written is refused with its name', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const file = path.join(folder.path, 'a-file');
  await writeFile(file, '');
  await assert.rejects(startHostProcess({ dataDir: file, workflowsDir: folder.path }), /a-file/);
  if (process.getuid?.() === 0) return;
  const locked = path.join(folder.path, 'locked');
  await mkdir(locked);
  await chmod(locked, 0o500);
  await assert.rejects(startHostProcess({ dataDir: locked, workflowsDir: folder.path }), /locked/);
});
