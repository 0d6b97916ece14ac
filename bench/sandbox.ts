/** What running pack code out of process costs, beside calling the same function here. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEgress, PUBLIC_POLICY } from '@gantry/egress';
import { createSandbox, type Invocation, type PackCode, type Sandbox } from '@gantry/sandbox';
import { spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder } from './servers.ts';
import type { Settings } from './settings.ts';

const MIB = 1024 * 1024;
const WARM_UP = 200;
const INVOCATIONS = 2_000;
const TYPE_ID = 'bench.sum';
const SOURCE = `export const nodes = {
  '${TYPE_ID}': async (ctx) => ({ status: 'success', outputs: { sum: ctx.inputs.a + ctx.inputs.b } }),
};
`;

type NodeFunction = (ctx: Pick<Invocation['ctx'], 'inputs'>) => Promise<unknown>;

const invocationOf = (code: PackCode, principal: string): Invocation => ({
  code,
  key: { tenant: 'bench', workspace: 'bench', principal },
  grants: [],
  typeId: TYPE_ID,
  ctx: {
    ...{ runId: 'run', nodeId: 'node', attempt: 1, inputs: { a: 1, b: 2 }, config: {} },
    ...{ trustBoundary: 'trusted', configurable: {} },
  },
  ...{ variables: {}, answers: {}, surfaces: {} },
  limits: { memoryBytes: 64 * MIB, wallClockMs: 30_000, outputBytes: MIB },
  call: async () => null,
  emit: () => {},
  log: () => {},
});

async function timed(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now();
    await work(index);
    samples.push(performance.now() - startedAt);
  }
  return samples;
}

const rowOf = (what: string, samples: readonly number[]): Row => {
  const spread = spreadOf(samples);
  return { what, invocations: samples.length, 'p50 ms': round(spread?.p50), 'p99 ms': round(spread?.p99) };
};

async function measure(sandbox: Sandbox, code: PackCode, coldStarts: number): Promise<Row[]> {
  const module: { nodes: Readonly<Record<string, NodeFunction>> } = await import(
    pathToFileURL(path.join(code.folder, code.entry)).href
  );
  const inProcess = module.nodes[TYPE_ID];
  if (!inProcess) throw new Error('the pack does not export its node');
  const warm = invocationOf(code, 'warm');
  await timed(WARM_UP, () => sandbox.invoke(warm));
  return [
    rowOf('in process', await timed(INVOCATIONS, () => inProcess(warm.ctx))),
    rowOf('sandbox, warm', await timed(INVOCATIONS, () => sandbox.invoke(warm))),
    rowOf(
      'sandbox, cold',
      await timed(coldStarts, (index) => sandbox.invoke(invocationOf(code, `cold-${index}`))),
    ),
  ];
}

export async function sandbox(settings: Settings): Promise<Report> {
  const folder = freshFolder(settings.dataDir);
  writeFileSync(path.join(folder, 'index.mjs'), SOURCE);
  const code: PackCode = {
    name: 'bench',
    version: '1.0.0',
    folder,
    entry: 'index.mjs',
    language: 'javascript',
  };
  const started = await createSandbox({
    ...{ isolation: 'os', workDir: freshFolder(settings.dataDir), warmMax: 4, idleMs: 60_000 },
    ...{ egress: createEgress({ policy: PUBLIC_POLICY }), now: () => performance.now(), log: () => {} },
  });
  try {
    const rows = await measure(started, code, settings.coldStarts * 4);
    return { title: `Pack code in the sandbox (${started.stats().isolation})`, rows };
  } finally {
    await started.stop();
  }
}
