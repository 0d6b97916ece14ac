/** Durable runs per second, beside the bare limit of the same machine in the same minute. */
import path from 'node:path';
import { cpuMs, residentMiB, runJson, type Server } from './children.ts';
import type { LoadRequest, LoadResult } from './load/main.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, type Row, round } from './report.ts';
import { type Disk, freshFolder, startBare, startHost, targetOf } from './servers.ts';
import { type Settings, SLOW_COMMIT_MS } from './settings.ts';

const loadScript = path.join(import.meta.dirname, 'load/main.ts');

interface Contestant {
  readonly name: string;
  readonly server: Server;
  readonly workflowId: string;
  readonly followOneIn: number;
}

interface Measured extends LoadResult {
  readonly memoryMiB: number | null;
  readonly cpuMicrosPerRun: number | null;
}

export function runLoad(server: Server, request: Omit<LoadRequest, 'port' | 'apiKey'>): Promise<LoadResult> {
  const timeoutMs = request.durationMs + request.drainTimeoutMs + 30_000;
  return runJson<LoadResult>(loadScript, { ...targetOf(server), ...request }, timeoutMs);
}

async function measure(
  contestant: Contestant,
  connections: number,
  durationMs: number,
  settings: Settings,
): Promise<Measured> {
  const { server } = contestant;
  const cpuBefore = cpuMs(server.pid);
  const result = await runLoad(server, {
    connections,
    durationMs,
    requestsMax: Number.MAX_SAFE_INTEGER,
    body: JSON.stringify({ workflowId: contestant.workflowId, inputs: {} }),
    followOneIn: contestant.followOneIn,
    drainTimeoutMs: settings.drainTimeoutMs,
  });
  const cpuAfter = cpuMs(server.pid);
  const usedMs = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore;
  return {
    ...result,
    memoryMiB: residentMiB(server.pid),
    cpuMicrosPerRun: usedMs === null ? null : (usedMs * 1000) / result.created,
  };
}

function rowOf(
  name: string,
  connections: number,
  rounds: readonly Measured[],
  bareRunsPerSecond: number,
): Row {
  const median = (of: (result: Measured) => number | null | undefined): number | null => {
    const values = rounds.map(of).filter((value) => typeof value === 'number');
    return values.length === 0 ? null : round(medianOf(values));
  };
  const runsPerSecond = medianOf(rounds.map((result) => result.runsPerSecond));
  const refused = rounds.flatMap((result) => Object.values(result.refused)).reduce((sum, n) => sum + n, 0);
  return {
    connections,
    server: name,
    'runs/s': round(runsPerSecond),
    'of bare': round(runsPerSecond / bareRunsPerSecond),
    'creates/s': median((result) => result.createsPerSecond),
    'create p50 ms': median((result) => result.createMs?.p50),
    'create p99 ms': median((result) => result.createMs?.p99),
    'to end p50 ms': median((result) => result.endToEndMs?.p50),
    'to end p99 ms': median((result) => result.endToEndMs?.p99),
    'memory MiB': median((result) => result.memoryMiB),
    'CPU µs a run': median((result) => result.cpuMicrosPerRun),
    refused,
    'load CPU': median((result) => result.generatorCpu),
  };
}

/** Rounds alternate between the contestants, so that noise of the machine hits all of them. */
async function compare(
  contestants: readonly Contestant[],
  connections: number,
  settings: Settings,
): Promise<Row[]> {
  const results = contestants.map((contestant) => ({ contestant, rounds: [] as Measured[] }));
  for (const { contestant } of results) await measure(contestant, connections, settings.warmUpMs, settings);
  for (let turn = 0; turn < settings.rounds; turn++) {
    for (const { contestant, rounds } of results)
      rounds.push(await measure(contestant, connections, settings.roundMs, settings));
  }
  const bare = medianOf(results[0]?.rounds.map((result) => result.runsPerSecond) ?? []);
  return results.map(({ contestant, rounds }) => rowOf(contestant.name, connections, rounds, bare));
}

const lagIn = (output: string): string | null => /event loop lag .*/.exec(output)?.[0] ?? null;

export async function throughput(settings: Settings, disk: Disk): Promise<Report> {
  const rows: Row[] = [];
  const lags: string[] = [];
  for (const connections of settings.connections) {
    const bare = await startBare(freshFolder(settings.dataDir), disk);
    const host = await startHost(freshFolder(settings.dataDir), disk).catch(async (error: unknown) => {
      await bare.stop();
      throw error;
    });
    const { followOneIn } = settings;
    try {
      const contestants: Contestant[] = [
        { name: 'bare limit', server: bare, workflowId: 'bench-three', followOneIn: 0 },
        { name: 'host, 1 node', server: host, workflowId: 'bench-noop', followOneIn },
        { name: 'host, 3 nodes', server: host, workflowId: 'bench-three', followOneIn },
      ];
      rows.push(...(await compare(contestants, connections, settings)));
    } finally {
      await bare.stop();
      lags.push(lagIn(await host.stop()) ?? '');
    }
  }
  const slow = `, ${SLOW_COMMIT_MS} ms added to every commit; ${lags.filter(Boolean).join('; ')}`;
  return { title: `Durable runs over HTTP${disk === 'slow' ? slow : ''}`, rows };
}
