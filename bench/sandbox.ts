/** What running pack code out of process costs, beside calling the same function here. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
const SOURCES = {
  'index.mjs': `export const nodes = {
  '${TYPE_ID}': async (ctx) => ({ status: 'success', outputs: { sum: ctx.inputs.a + ctx.inputs.b } }),
};
`,
  'index.py': `nodes = {'${TYPE_ID}': lambda ctx: {'sum': ctx.inputs['a'] + ctx.inputs['b']}}
`,
} as const;

const codeOf = (folder: string, language: 'javascript' | 'python'): PackCode => ({
  name: 'bench',
  version: '1.0.0',
  folder,
  language,
  entry: language === 'python' ? 'index.py' : 'index.mjs',
});

type NodeFunction = (ctx: Pick<Invocation['ctx'], 'inputs'>) => Promise<unknown>;

const invocationOf = (code: PackCode, principal: string): Invocation => ({
  code,
  key: { tenant: 'bench', workspace: 'bench', principal },
  grants: [],
  typeId: TYPE_ID,
  repeatable: true,
  ctx: {
    runId: 'run',
    nodeId: 'node',
    attempt: 1,
    inputs: { a: 1, b: 2 },
    config: {},
    trustBoundary: 'trusted',
    configurable: {},
  },
  variables: {},
  answers: {},
  surfaces: {},
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

/** `of bare`: how many times a bare `node -e 0` of the same moment. */
const rowOf = (what: string, samples: readonly number[], bare?: readonly number[]): Row => {
  const spread = spreadOf(samples);
  const ratio = bare && spread && spread.p50 / (spreadOf(bare)?.p50 ?? Number.NaN);
  const row = {
    what,
    invocations: samples.length,
    'p50 ms': round(spread?.p50),
    'p99 ms': round(spread?.p99),
  };
  return { ...row, 'of bare': ratio ? round(ratio) : null };
};

async function inProcessOf(code: PackCode): Promise<NodeFunction> {
  const module: { nodes: Readonly<Record<string, NodeFunction>> } = await import(
    pathToFileURL(path.join(code.folder, code.entry)).href
  );
  return module.nodes[TYPE_ID] ?? Promise.reject(new Error('the pack does not export its node'));
}

const bareNode = (): Promise<unknown> =>
  once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');

async function invoked(sandbox: Sandbox, invocation: Invocation): Promise<void> {
  const { result } = await sandbox.invoke(invocation);
  if (result.status !== 'success') throw new Error(JSON.stringify(result));
}

/** Bare and cold starts take turns, so that noise of the machine hits both. */
async function coldRows(sandbox: Sandbox, code: PackCode, starts: number): Promise<Row[]> {
  const bare: number[] = [];
  const cold: number[] = [];
  for (let index = 0; index < starts; index++) {
    bare.push(...(await timed(1, bareNode)));
    cold.push(...(await timed(1, () => invoked(sandbox, invocationOf(code, `cold-${index}`)))));
  }
  return [rowOf('node -e 0', bare), rowOf(`${code.language}, cold`, cold, bare)];
}

async function rowsOf(sandbox: Sandbox, code: PackCode, coldStarts: number): Promise<Row[]> {
  const warm = invocationOf(code, 'warm');
  await timed(WARM_UP, () => invoked(sandbox, warm));
  const samples = await timed(INVOCATIONS, () => invoked(sandbox, warm));
  return [rowOf(`${code.language}, warm`, samples), ...(await coldRows(sandbox, code, coldStarts))];
}

async function measure(sandbox: Sandbox, folder: string, coldStarts: number): Promise<Row[]> {
  const javascript = codeOf(folder, 'javascript');
  const inProcess = await inProcessOf(javascript);
  const { ctx } = invocationOf(javascript, 'nobody');
  const rows = [rowOf('in process', await timed(INVOCATIONS, () => inProcess(ctx)))];
  rows.push(...(await rowsOf(sandbox, javascript, coldStarts)));
  if ((await sandbox.pythonVersion()) !== undefined)
    rows.push(...(await rowsOf(sandbox, codeOf(folder, 'python'), coldStarts)));
  return rows;
}

export async function sandbox(settings: Settings): Promise<Report> {
  const folder = freshFolder(settings.dataDir);
  for (const [name, source] of Object.entries(SOURCES)) writeFileSync(path.join(folder, name), source);
  const started = await createSandbox({
    isolation: 'os',
    workDir: freshFolder(settings.dataDir),
    warmMax: 4,
    idleMs: 60_000,
    egress: createEgress({ policy: PUBLIC_POLICY }),
    now: () => performance.now(),
    log: () => {},
  });
  try {
    const rows = await measure(started, folder, settings.coldStarts * 4);
    return { title: `Pack code in the sandbox (${started.stats().isolation})`, rows };
  } finally {
    await started.stop();
  }
}
