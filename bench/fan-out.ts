/** How late an event reaches a thousand listeners. */
import path from 'node:path';
import { residentMiB, runJson, type Server } from './children.ts';
import type { FanOutRequest, FanOutResult } from './load/fan-out.ts';
import { type Report, round } from './report.ts';
import { startBareFanOut, targetOf, withHost } from './servers.ts';
import type { Settings } from './settings.ts';

const fanOutScript = path.join(import.meta.dirname, 'load/fan-out.ts');
/** Quiet time at the start of the run, in which all clients connect. */
const LEAD_MS = 5000;
const TICK_MS = 100;
const TICKS = 60;
const TIMEOUT_MS = 60_000;

async function measure(name: string, server: Server, clients: number) {
  const inputs = { leadMs: LEAD_MS, tickMs: TICK_MS, ticks: TICKS };
  const body = JSON.stringify({ workflowId: 'bench-ticks', inputs });
  const request: FanOutRequest = { ...targetOf(server), clients, body };
  const result = await runJson<FanOutResult>(fanOutScript, request, TIMEOUT_MS);
  return {
    server: name,
    clients: result.clients,
    'events each': result.eventsPerClient,
    'p50 ms': round(result.delayMs?.p50),
    'p99 ms': round(result.delayMs?.p99),
    'memory MiB': round(residentMiB(server.pid)),
  };
}

export async function fanOut(settings: Settings): Promise<Report> {
  const clients = settings.fanOutClients;
  const bare = await startBareFanOut();
  const limit = await measure('bare limit', bare, clients).finally(() => bare.stop());
  const host = await withHost(settings.dataDir, (server) => measure('host', server, clients));
  return { title: 'One run, many SSE clients: event timestamp to arrival', rows: [limit, host] };
}
