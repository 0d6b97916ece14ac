/** A small real HTTP server for tests. It speaks the protocol's outer edge and misbehaves on request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';

export interface Exchange {
  method: string;
  /** Path with query. */
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface TestHost {
  url: string;
  /** Every request received, in order. */
  seen: Exchange[];
  stop(): Promise<void>;
}

export type Handler = (request: Exchange, response: ServerResponse) => void;

/** Pass the `port` of an earlier host to stand in for its restart. */
export async function startTestHost(t: TestContext, handle: Handler, port = 0): Promise<TestHost> {
  const seen: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const exchange = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(exchange);
    handle(exchange, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.after(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, stop };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A log of `count` events that ends in `run.completed`. */
export function runLog(runId: string, count: number): RunEventDoc[] {
  return Array.from({ length: count }, (_, sequence) => ({
    eventId: `${runId}.${sequence}`,
    runId,
    type: sequence === count - 1 ? 'run.completed' : sequence === 0 ? 'run.started' : 'node.completed',
    payload: sequence % 2 === 0 ? { text: `Zürich 🏗 ${sequence}` } : {},
    timestamp: new Date(1_700_000_000_000 + sequence).toISOString(),
    sequence,
    schemaVersion: 1,
    engineVersion: '1',
  }));
}

export const sseFrame = (event: RunEventDoc): string =>
  `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** First sequence a reader with these headers has not seen. */
export const firstUnseen = (request: Exchange): number => Number(request.headers['last-event-id'] ?? -1) + 1;

export const openStream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
