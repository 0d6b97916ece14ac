/**
 * The load generator, a process of its own: options as JSON in the first argument, the result as JSON
 * on stdout.
 */
import { type LoadOptions, runClosedLoop } from './closed-loop.ts';
import { drain } from './drain.ts';
import { type Spread, spreadOf } from './percentile.ts';

export interface LoadRequest extends LoadOptions {
  /** Wait after the load until no run is pending or running; 0 does not wait. */
  readonly drainTimeoutMs: number;
}

export interface LoadResult {
  readonly created: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Accepted creates over the time of the load. */
  readonly createsPerSecond: number;
  /** Runs over the whole time, until the last one had ended. */
  readonly runsPerSecond: number;
  readonly createMs: Spread | null;
  readonly endToEndMs: Spread | null;
  /** CPU time of the generator per wall time: far below 1, or it measures itself. */
  readonly generatorCpu: number;
}

export async function runLoad(request: LoadRequest): Promise<LoadResult> {
  const cpuBefore = process.cpuUsage();
  const counts = await runClosedLoop(request);
  const loadMs = performance.now() - counts.startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  if (request.drainTimeoutMs > 0) await drain(request, request.drainTimeoutMs);
  const wholeMs = performance.now() - counts.startedAt;
  return {
    created: counts.created,
    refused: counts.refused,
    createsPerSecond: (counts.created / loadMs) * 1000,
    runsPerSecond: (counts.created / wholeMs) * 1000,
    createMs: spreadOf(counts.createMs),
    endToEndMs: spreadOf(counts.endToEndMs),
    generatorCpu: (cpu.user + cpu.system) / 1000 / loadMs,
  };
}

if (import.meta.main) {
  const request: LoadRequest = JSON.parse(process.argv[2] ?? '');
  console.log(JSON.stringify(await runLoad(request)));
}
