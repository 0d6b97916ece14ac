/** The processes that test the isolation of the machine are killed, as by a machine without memory. */
import assert from 'node:assert/strict';
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { createEgressByPurpose } from '@gantry/egress';
import { OpenwopError } from '@gantry/protocol';
import { pino } from 'pino';
import { readSettings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess, temporaryFolder } from '../testing/host-process.ts';
import { Sandboxes } from './sandboxes.ts';
import { caller, hostPlaces, until } from './testing/host-lives.ts';
import { packTest } from './testing/pack-test.ts';

/** Kills the next processes that this one starts, `left` of them. */
function killing(t: TestContext, left: number): { left: number } {
  const kills = { left };
  const { spawn } = childProcess;
  t.mock.method(childProcess, 'spawn', (...args: Parameters<typeof spawn>) => {
    const child = spawn(...args);
    if (kills.left-- > 0 && child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
    return child;
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return kills;
}

const isRetriable = (error: unknown): boolean =>
  error instanceof OpenwopError && error.code === 'sandbox_unavailable' && error.retriable;

test('nothing is concluded from it, and a folder of the operator does not run without isolation', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  killing(t, Number.POSITIVE_INFINITY);
  const settings = { ...readSettings([], {}), dataDir: folder.path };
  const log = pino({ level: 'silent' });
  const sandboxes = new Sandboxes({ settings, egress: createEgressByPurpose(), now: Date.now, log });
  await assert.rejects(sandboxes.for('folder'), isRetriable);
  await assert.rejects(sandboxes.for('archive'), isRetriable);
  await assert.rejects(sandboxes.isolation(), isRetriable);
  const [problem] = (await sandboxes.health()).problems;
  assert.match(problem!.problem, /could not be determined.*SIGKILL/);
});

test('the node is tried again, and runs behind the same walls as ever', async (t) => {
  const places = await hostPlaces(t, {});
  const first = await startHostProcess(places);
  const settings = { maxRetries: 5, backoffMs: 500 };
  await caller(first.url).install(
    [{ nodes: { 'vendor.acme.work': { body: 'return { done: true };' } } }],
    [workflow('work', [node('a', 'vendor.acme.work')], { settings })],
  );
  assert.equal(await first.stop(), 0);
  const api = await packTest(t, { settings: { dataDir: places.dataDir } });
  const kills = killing(t, Number.POSITIVE_INFINITY);
  const runId = await api.start('work');
  const poll = async (cursor: string) =>
    (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
  const events = await until(poll, (all) => all.some(({ type }) => type === 'node.retried'));
  const { payload } = events.find(({ type }) => type === 'node.retried')!;
  assert.match(JSON.stringify(payload), /"sandbox_unavailable".*could not be determined/);
  // A probe is repeated by itself, too
  kills.left = 2;
  const run = await api.ended(runId);
  assert.deepEqual(run.outputs, { done: true }, JSON.stringify(run));
  const { sandbox } = (await api.get('/.well-known/openwop')).json();
  assert.equal(sandbox.supported, true);
});
