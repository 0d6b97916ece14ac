/** A request of pack code, journaled and told in the log of its run, beside the same request through egress alone. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createEgressByPurpose, readAllowList } from '@gantry/egress';
import { type PackTest, packTest } from '../packages/host/src/packs/testing/pack-test.ts';
import { node, workflow } from '../packages/host/src/testing/definitions.ts';
import { startServer } from './children.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const CALLS = 300;
/** After a first one that does not count: code that runs for the first time is many times slower. */
const TURNS = 3;
/** Between looks at the run. A reader that follows its events would work as much as the calls do, in the same process. */
const LOOK_EVERY_MS = 250;
/** Milliseconds that the sandbox, two commits and their events may add. */
const BAR_MS = 3;
const PATH = '/hook';
const TYPE = 'vendor.bench.calls';

/** `fetch` goes the way of `safeFetch`, which could not reach a server of this machine. */
const BODY = `
  const times = [];
  for (let call = 0; call < ctx.config.calls; call++) {
    const startedAt = performance.now();
    await (await fetch(ctx.config.url)).arrayBuffer();
    times.push(performance.now() - startedAt);
  }
  return { times };`;

async function timesOf(request: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const startedAt = performance.now();
    await request();
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function timesOfRun(api: PackTest): Promise<number[]> {
  const runId = await api.start('calls');
  for (;;) {
    await delay(LOOK_EVERY_MS);
    const { status, outputs, error } = (await api.get(`/v1/runs/${runId}`)).json();
    if (status === 'completed') return outputs.times;
    if (status === 'failed') throw new Error(`The calls failed: ${JSON.stringify(error)}`);
  }
}

export async function toolCall(settings: Settings): Promise<Report> {
  const file = path.join(freshFolder(settings.dataDir), 'answers.json');
  writeFileSync(file, JSON.stringify({ [PATH]: '{"received":true}' }));
  const args = [path.join(import.meta.dirname, 'bare/bytes-server.ts'), '--file', file];
  const server = await startServer({ args, readyPath: '/' });
  const origin = `http://127.0.0.1:${server.port}`;
  const allow = readAllowList(`raw-fetch=${origin}`);
  const closing: (() => unknown)[] = [];
  const api = await packTest(
    { after: (close) => void closing.push(close) },
    { settings: { egressAllow: allow } },
  );
  const egress = createEgressByPurpose({ allow });
  try {
    const nodes = { [TYPE]: { body: BODY, role: 'side-effect' } };
    await api.install({ requires: ['net.outbound'], nodes }, '?grant=net.outbound');
    await api.registered(workflow('calls', [node('a', TYPE, { calls: CALLS, url: origin + PATH })]));
    const alone: number[] = [];
    const guarded: number[] = [];
    for (let turn = 0; turn <= TURNS; turn++) {
      const plain = await timesOf(() => egress.for('raw-fetch').request(origin + PATH));
      const journaled = await timesOfRun(api);
      if (turn === 0) continue;
      alone.push(...plain);
      guarded.push(...journaled);
    }
    const above = medianOf(guarded) - medianOf(alone);
    const row = {
      'egress p50 ms': round(medianOf(alone)),
      'journaled p50 ms': round(medianOf(guarded)),
      'above ms': round(above),
      bar: BAR_MS,
      held: above <= BAR_MS ? 'yes' : 'no',
    };
    return { title: 'A journaled request of pack code, one at a time, beside egress alone', rows: [row] };
  } finally {
    egress.close();
    for (const close of closing.toReversed()) await close();
    await server.stop();
  }
}
