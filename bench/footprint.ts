/** What the host costs when it does nothing: to start, to sit idle, to hold runs that wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { activity, residentMiB, type Server } from './children.ts';
import { medianOf } from './load/percentile.ts';
import { type Report, round } from './report.ts';
import { freshFolder, startHost, withHost } from './servers.ts';
import type { Settings } from './settings.ts';
import { runLoad } from './throughput.ts';

export async function coldStart(settings: Settings): Promise<Report> {
  const readyMs: number[] = [];
  for (let start = 0; start < settings.coldStarts; start++)
    readyMs.push(await withHost(settings.dataDir, async (server) => server.readyMs));
  return {
    title: 'Cold start: spawn to the first 200 of /readyz, empty database',
    rows: [
      {
        starts: readyMs.length,
        'median ms': round(medianOf(readyMs)),
        'worst ms': round(Math.max(...readyMs)),
      },
    ],
  };
}

export function idle(settings: Settings): Promise<Report> {
  return withHost(settings.dataDir, async (server) => {
    await sleep(settings.idleAfterMs);
    const before = activity(server.pid);
    await sleep(settings.idleMs);
    const after = activity(server.pid);
    const perSecond = (of: (a: NonNullable<typeof before>) => number): number | null =>
      before && after ? round((of(after) - of(before)) / (settings.idleMs / 1000)) : null;
    return {
      title: `Idle, ${settings.idleAfterMs / 1000} s after the start`,
      rows: [
        {
          'memory MiB': round(residentMiB(server.pid)),
          'CPU ms/s': perSecond((a) => a.cpuMs),
          'reads and writes/s': perSecond((a) => a.ioCalls),
        },
      ],
    };
  });
}

const HOUR_MS = 3_600_000;
export const WARM_UP_RUNS = 1000;

export function createRuns(
  server: Server,
  count: number,
  workflowId: string,
  inputs: object,
  drainTimeoutMs: number,
) {
  return runLoad(server, {
    connections: 32,
    durationMs: 60_000,
    requestsMax: count,
    body: JSON.stringify({ workflowId, inputs }),
    followOneIn: 0,
    drainTimeoutMs,
  });
}

export async function waiting(settings: Settings): Promise<Report> {
  const folder = freshFolder(settings.dataDir);
  const server = await startHost(folder, 'fast');
  try {
    // Ended runs first: what the code and its caches take is not what waiting runs take.
    await createRuns(server, WARM_UP_RUNS, 'bench-noop', {}, settings.drainTimeoutMs);
    await sleep(settings.settleMs);
    const before = residentMiB(server.pid);
    const { created } = await createRuns(
      server,
      settings.waitingRuns,
      'bench-delay',
      { delayMs: HOUR_MS },
      0,
    );
    await sleep(settings.settleMs);
    const after = residentMiB(server.pid);
    await server.stop();
    const again = await startHost(folder, 'fast');
    await again.stop();
    const added = before === null || after === null ? null : after - before;
    return {
      title: 'Runs that wait for an hour',
      rows: [
        {
          runs: created,
          'memory before MiB': round(before),
          'added MiB': round(added),
          'KiB each': added === null ? null : round((added * 1024) / created),
          'restart with them ms': round(again.readyMs),
        },
      ],
    };
  } finally {
    await server.stop();
  }
}
