/**
 * The bare limit of fan-out: one process that writes the same bytes to every listener at each tick, with
 * nothing behind it. It answers like the host, as far as the clients of the measurement look.
 *
 * node bench/bare/fan-out-server.ts
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const listeners = new Set<ServerResponse>();

/** About what the host sends for one tick: two events of some 350 bytes. */
function frames(sequence: number): string {
  const timestamp = new Date().toISOString();
  const filler = 'x'.repeat(250);
  const frame = (id: number): string =>
    `id: ${id}\nevent: node.completed\ndata: {"sequence":${id},"timestamp":"${timestamp}","payload":"${filler}"}\n\n`;
  return frame(sequence) + frame(sequence + 1);
}

interface Inputs {
  readonly leadMs: number;
  readonly tickMs: number;
  readonly ticks: number;
}

function play({ leadMs, tickMs, ticks }: Inputs): void {
  let played = 0;
  const tick = (): void => {
    const bytes = Buffer.from(frames(2 * played));
    for (const listener of listeners) listener.socket?.write(bytes);
    if (++played < ticks) setTimeout(tick, tickMs);
    else for (const listener of listeners) listener.socket?.end();
  };
  setTimeout(tick, leadMs);
}

async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    let text = '';
    for await (const chunk of request) text += chunk;
    play(JSON.parse(text).inputs);
    response.writeHead(201, { 'content-length': 16 }).end('{"runId":"bare"}');
  } else if (request.url?.endsWith('/events')) {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' }).flushHeaders();
    listeners.add(response);
  } else response.end('{}');
}

const server = createServer(onRequest);
server.listen(0, '127.0.0.1', () => {
  console.log(`bare fan-out on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => process.exit(0));
