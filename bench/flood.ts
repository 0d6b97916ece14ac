/** How long a create of one tenant takes while another floods the host; the generator is on the same cores. */
import path from 'node:path';
import { runJson } from './children.ts';
import { FLOODS, type FloodKind, type FloodRequest } from './load/flood.ts';
import { Connection, requestBytes, type Target } from './load/http.ts';
import { spreadOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { targetOf, withHost } from './servers.ts';
import type { Settings } from './settings.ts';

const floodScript = path.join(import.meta.dirname, 'load/flood.ts');
/** Between two creates, so that they meet the flood at different moments. */
const PAUSE_MS = 20;
/** The bound of a create under a flood: the larger of the two. */
const BOUND = { timesIdle: 10, ms: 30 };

const FLOOD_WORKFLOW = {
  id: 'flood',
  name: 'An expression that a long list makes use up its steps',
  version: '1.0.0',
  nodes: [
    {
      id: 'spend',
      typeId: 'core.identity',
      name: 'spend',
      position: { x: 0, y: 0 },
      config: {},
      inputs: {
        input: {
          type: 'expression',
          expression: 'variables.list.all(x, !variables.list.exists(y, y == x + 1000))',
        },
      },
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [
    { name: 'list', type: 'array', defaultValue: [] },
    { name: 'text', type: 'string', defaultValue: '' },
  ],
  metadata: {},
  settings: {},
};

async function post(target: Target, url: string, body: object): Promise<Record<string, unknown>> {
  const connection = new Connection(target.port);
  const request = requestBytes(target, 'POST', url, { body: JSON.stringify(body) });
  const answer = await connection.send(request);
  connection.close();
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${answer.body}`);
  return JSON.parse(answer.body.toString());
}

async function tenantTarget(admin: Target, tenant: string): Promise<Target> {
  const scopes = ['runs:create', 'runs:read', 'workflows:write'];
  const { key } = await post(admin, '/v1/host/gantry/keys', { name: tenant, tenant, scopes });
  return { port: admin.port, apiKey: String(key) };
}

async function createSamples(target: Target, durationMs: number): Promise<number[]> {
  const connection = new Connection(target.port);
  const request = requestBytes(target, 'POST', '/v1/runs', { body: '{"workflowId":"bench-three"}' });
  const samples: number[] = [];
  const until = performance.now() + durationMs;
  while (performance.now() < until) {
    const sentAt = performance.now();
    const { status } = await connection.send(request);
    if (status === 201) samples.push(performance.now() - sentAt);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  connection.close();
  return samples;
}

function rowOf(load: string, samples: readonly number[], idleP50: number, more: Row = {}): Row {
  const spread = spreadOf(samples);
  const boundMs = Math.max(BOUND.ms, BOUND.timesIdle * idleP50);
  return {
    load,
    creates: samples.length,
    'p50 ms': round(spread?.p50),
    'p99 ms': round(spread?.p99),
    'bound ms': round(boundMs),
    held: (spread?.p50 ?? Number.POSITIVE_INFINITY) <= boundMs ? 'yes' : 'no',
    ...more,
  };
}

export function flood(settings: Settings): Promise<Report> {
  return withHost(settings.dataDir, async (server) => {
    const admin = targetOf(server);
    const loud = await tenantTarget(admin, 'loud');
    const quiet = await tenantTarget(admin, 'quiet');
    await post(loud, '/v1/host/gantry/workflows', FLOOD_WORKFLOW);
    const { runId } = await post(loud, '/v1/runs', { workflowId: 'bench-three' });
    await createSamples(quiet, settings.warmUpMs);
    const idle = await createSamples(quiet, settings.roundMs);
    const idleP50 = spreadOf(idle)?.p50 ?? 0;
    const rows = [rowOf('none', idle, idleP50)];
    const flooded = async (kind: FloodKind): Promise<Row> => {
      const request: FloodRequest = { ...loud, kind, durationMs: settings.roundMs, runId: String(runId) };
      const [samples, { answered }] = await Promise.all([
        createSamples(quiet, settings.roundMs),
        runJson<{ answered: object }>(floodScript, request, settings.roundMs + 60_000),
      ]);
      return rowOf(kind, samples, idleP50, { answered: JSON.stringify(answered) });
    };
    for (const kind of FLOODS) rows.push(await flooded(kind));
    return { title: 'creates of one tenant while another floods', rows };
  });
}
