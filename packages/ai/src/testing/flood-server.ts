/** A server in a thread of its own that answers every request with text as fast as its socket takes it, without an end. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { openStream } from './dialect.ts';
import { DIALECTS } from './dialects.ts';

const DELTA = 'x'.repeat(10_000);
/** How often a delta is repeated in one write. */
const AT_ONCE = 16;

export interface FloodServer {
  readonly origin: string;
  /** Requests that are being answered. */
  readonly open: number;
  close(): Promise<void>;
}

export async function startFloodServer(): Promise<FloodServer> {
  const open = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: open });
  const [port] = await once(worker, 'message');
  return {
    origin: `http://127.0.0.1:${port}`,
    get open() {
      return Atomics.load(open, 0);
    },
    close: async () => void (await worker.terminate()),
  };
}

/** By the path of a request. */
function floodFor(path: string): ReturnType<typeof openStream> {
  const { dialect } = DIALECTS.find(
    (one) => one.dialect.modelOf({ path, body: { model: 'm' } }) !== undefined,
  )!;
  return openStream(dialect, DELTA);
}

async function pour(response: ServerResponse, path: string): Promise<void> {
  const { begin, piece } = floodFor(path);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(begin);
  const many = Buffer.from(piece.repeat(AT_ONCE));
  const closed = once(response, 'close');
  while (!response.destroyed) {
    if (!response.write(many)) await Promise.race([once(response, 'drain'), closed]);
    await sleep(0);
  }
}

if (!isMainThread) {
  const server = createServer(async (request, response) => {
    request.resume();
    Atomics.add(workerData, 0, 1);
    await pour(response, new URL(request.url ?? '/', 'http://unused').pathname).catch(() => {});
    Atomics.sub(workerData, 0, 1);
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}
