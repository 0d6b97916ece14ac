/** Readers that open a stream and never read from it. Their number grows with `npm run soak -- readers`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { node, variable, workflow } from '../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';

const READERS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 30);
const NODES = 14;
const TEXT_CHARS = 300_000;
/** All that 30 readers do not read is 250 MiB. */
const GROWTH_MIB_MAX = READERS > 100 ? 500 : 100;

const big = workflow(
  'big',
  Array.from({ length: NODES }, (_, index) =>
    node(`n${index}`, 'core.identity', {}, { inputs: { text: variable('text') } }),
  ),
  { variables: [{ name: 'text', type: 'string' }] },
);

const residentMiB = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

for (const mode of ['updates', 'values'])
  test(
    `readers of ${mode} that never read take little memory and hold up no other reader`,
    {
      skip: process.platform !== 'linux' && 'memory is read from /proc',
    },
    (t) => neverRead(t, mode),
  );

async function neverRead(t: TestContext, mode: string): Promise<void> {
  const folder = await temporaryFolder();
  const workflowsDir = path.join(folder.path, 'workflows');
  await mkdir(workflowsDir);
  await writeFile(path.join(workflowsDir, 'big.json'), JSON.stringify(big));
  const host = await startHostProcess({ dataDir: path.join(folder.path, 'data'), workflowsDir });
  const readers: Socket[] = [];
  let sampler: NodeJS.Timeout | undefined;
  t.after(async () => {
    clearInterval(sampler);
    for (const reader of readers) reader.destroy();
    await host.stop();
    await folder.remove();
  });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const created = await fetch(`${host.url}/v1/runs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ workflowId: 'big', inputs: { text: 'x'.repeat(TEXT_CHARS) } }),
  });
  assert.equal(created.status, 201);
  const { runId } = (await created.json()) as { runId: string };
  const read = async (): Promise<number> => {
    const stream = await fetch(`${host.url}/v1/runs/${runId}/events`, { headers });
    return (await stream.text()).split('\nevent: node.completed\n').length - 1;
  };
  assert.equal(await read(), NODES);

  const { hostname, port } = new URL(host.url);
  const idleMiB = residentMiB(host.child.pid!);
  let mostMiB = idleMiB;
  sampler = setInterval(() => {
    mostMiB = Math.max(mostMiB, residentMiB(host.child.pid!));
  }, 20);
  for (let at = 0; at < READERS; at++) {
    const reader = connect(Number(port), hostname);
    readers.push(reader.pause());
    reader.on('error', () => {});
    await once(reader, 'connect');
    reader.write(
      `GET /v1/runs/${runId}/events?streamMode=${mode} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TEST_KEY}\r\n\r\n`,
    );
  }
  for (let round = 0; round < 2; round++) assert.equal(await read(), NODES);
  const growthMiB = Math.round(mostMiB - idleMiB);
  t.diagnostic(`${READERS} readers: ${growthMiB} MiB above ${Math.round(idleMiB)} MiB`);
  assert.ok(growthMiB < GROWTH_MIB_MAX, `${growthMiB} MiB`);
}
