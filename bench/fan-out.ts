/** How late an event reaches a thousand listeners. */
import path from 'node:path';
import { residentMiB, runJson } from './children.ts';
import type { FanOutRequest, FanOutResult } from './load/fan-out.ts';
import { type Report, round } from './report.ts';
import { targetOf, withHost } from './servers.ts';
import type { Settings } from './settings.ts';

const fanOutScript = path.join(import.meta.dirname, 'load/fan-out.ts');
/** Quiet time at the start of the run, in which all clients connect. */
const LEAD_MS = 5000;
const TICK_MS = 100;
const TIMEOUT_MS = 60_000;

export function fanOut(settings: Settings): Promise<Report> {
  return withHost(settings.dataDir, async (server) => {
    const request: FanOutRequest = {
      ...targetOf(server),
      clients: settings.fanOutClients,
      body: JSON.stringify({ workflowId: 'bench-ticks', inputs: { leadMs: LEAD_MS, tickMs: TICK_MS } }),
    };
    const result = await runJson<FanOutResult>(fanOutScript, request, TIMEOUT_MS);
    return {
      title: 'One run, many SSE clients: event timestamp to arrival',
      rows: [
        {
          clients: result.clients,
          'events each': result.eventsPerClient,
          deliveries: result.deliveries,
          'p50 ms': round(result.delayMs?.p50),
          'p99 ms': round(result.delayMs?.p99),
          'memory MiB': round(residentMiB(server.pid)),
        },
      ],
    };
  });
}
