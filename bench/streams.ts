/** How late the text of a model reaches a reader of the run, and what many such streams cost other runs. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { node, workflow } from '../packages/host/src/testing/definitions.ts';
import { type Server, startServer } from './children.ts';
import { openEventStream } from './load/event-stream.ts';
import { type Spread, spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { freshFolder, startHost, targetOf } from './servers.ts';
import type { Settings } from './settings.ts';
import { runLoad } from './throughput.ts';

const FIRST_P50_MS = 10;
const FIRST_P99_MS = 25;
const LATER_MS = 60;
const RATIO = 3;
const AT_ONCE = 2;
const WARM_UP_CALLS = 10;
/** 20 tokens a second. */
const GAP_MS = 50;
const PIECES = 5;
/** Streams are all under way by then. */
const SETTLE_MS = 1_000;

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

async function post(server: Server, url: string, body: object): Promise<{ runId: string }> {
  const { port, apiKey } = targetOf(server);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}${url}`, init);
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<{ runId: string }>;
}

/** Of one run: how long after it was said each piece arrived. */
async function delaysOf(server: Server, model: string): Promise<number[]> {
  const configurable = { ai: { provider: 'lab', model } };
  const { runId } = await post(server, '/v1/runs', { workflowId: 'ask', configurable });
  const delays: number[] = [];
  const ended = Promise.withResolvers<void>();
  openEventStream(targetOf(server), `/v1/runs/${runId}/events?streamMode=messages`, {
    onEvent({ name, data }) {
      const arrivedAt = nowMs();
      if (!name.endsWith('chunk')) return;
      for (const [, saidAt] of data.matchAll(/@(\d+\.\d+) /g)) delays.push(arrivedAt - Number(saidAt));
    },
    onEnd: (error) => (error ? ended.reject(error) : ended.resolve()),
  });
  await ended.promise;
  return delays;
}

async function oneByOne(server: Server, calls: number): Promise<number[][]> {
  const all: number[][] = [];
  const next = async (): Promise<void> => {
    while (calls-- > 0) all.push(await delaysOf(server, `${PIECES}x${GAP_MS}`));
  };
  // Loads the library of the provider, and code that runs for the first time is many times slower
  for (let call = 0; call < WARM_UP_CALLS; call++) await delaysOf(server, '1x0');
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return all;
}

const rowOf = (what: string, samples: readonly number[], held?: (spread: Spread) => boolean): Row => {
  const spread = spreadOf(samples);
  const judged = spread && held && { held: held(spread) ? 'yes' : 'no' };
  return {
    what,
    samples: samples.length,
    'p50 ms': round(spread?.p50),
    'p99 ms': round(spread?.p99),
    ...judged,
  };
};

async function measure(server: Server, settings: Settings): Promise<Row[]> {
  const delays = await oneByOne(server, settings.streamCalls);
  const first = delays.flatMap((all) => all.slice(0, 1));
  const later = delays.flatMap((all) => all.slice(1));
  const others = (durationMs = settings.roundMs) =>
    runLoad(server, {
      connections: 1,
      durationMs,
      requestsMax: Number.MAX_SAFE_INTEGER,
      body: '{"workflowId":"bench-three"}',
      followOneIn: 0,
      drainTimeoutMs: 0,
    });
  await others(settings.warmUpMs);
  const alone = await others();
  const pieces = Math.ceil((settings.roundMs + 2 * SETTLE_MS) / GAP_MS);
  const streams = Array.from({ length: settings.streams }, () => delaysOf(server, `${pieces}x${GAP_MS}`));
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const beside = await others();
  const many = (await Promise.all(streams)).flat();
  const ratio = (beside.createMs?.p50 ?? Number.NaN) / (alone.createMs?.p50 ?? Number.NaN);
  const other = ({ created, createMs }: typeof alone) => ({
    samples: created,
    'p50 ms': round(createMs?.p50),
    'p99 ms': round(createMs?.p99),
  });
  return [
    rowOf('first text', first, ({ p50, p99 }) => p50 <= FIRST_P50_MS && p99 <= FIRST_P99_MS),
    rowOf('later text', later, ({ p99 }) => p99 <= LATER_MS),
    rowOf(`text of ${settings.streams} streams`, many),
    { what: 'other runs alone', ...other(alone) },
    {
      what: `other runs beside ${settings.streams} streams`,
      ...other(beside),
      'times alone': round(ratio),
      held: ratio <= RATIO ? 'yes' : 'no',
    },
  ];
}

export async function streams(settings: Settings): Promise<Report> {
  const model = await startServer({
    args: [path.join(import.meta.dirname, 'bare/model-server.ts')],
    readyPath: '/',
  });
  const folder = freshFolder(settings.dataDir);
  const file = path.join(folder, 'ai.json');
  const endpoints = [{ id: 'lab', url: `http://127.0.0.1:${model.port}/v1` }];
  writeFileSync(file, JSON.stringify({ endpoints }));
  const server = await startHost(folder, 'fast', { GANTRY_AI: file });
  try {
    const ask = workflow('ask', [node('ask', 'core.ai.callPrompt', { prompt: 'Hello' })]);
    await post(server, '/v1/host/gantry/workflows', ask);
    return {
      title: 'Text of models, from the provider to an SSE reader of the run, 20 tokens a second',
      rows: await measure(server, settings),
    };
  } finally {
    await server.stop();
    await model.stop();
  }
}
