/**
 * Many SSE clients on one run, in a process of their own: options as JSON in the first argument, the
 * result as JSON on stdout.
 */
import net from 'node:net';
import { eventSplitter } from './event-stream.ts';
import { Connection, requestBytes, type Target } from './http.ts';
import { type Spread, spreadOf } from './percentile.ts';

export interface FanOutRequest extends Target {
  readonly clients: number;
  /** The body of `POST /v1/runs`: a run that stays quiet until all clients are there. */
  readonly body: string;
}

export interface FanOutResult {
  readonly clients: number;
  readonly eventsPerClient: number;
  readonly deliveries: number;
  /** From the event's timestamp to its arrival; timestamps have whole milliseconds. */
  readonly delayMs: Spread | null;
}

const epochMs = (): number => performance.timeOrigin + performance.now();

interface Client {
  readonly opened: Promise<void>;
  /** The delays of the events that happened after `since.at`. */
  readonly ended: Promise<readonly number[]>;
}

/** All sockets read into the same bytes: each chunk is copied before the next one arrives. */
const READ_BUFFER = Buffer.alloc(65_536);

/**
 * Keeps each chunk with its arrival and reads them only after the end: with a thousand clients in one
 * process, parsing as they arrive would measure the parser.
 */
function connect(target: Target, runId: string, since: { at: number }): Client {
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<readonly number[]>();
  const chunks: Chunk[] = [];
  const socket = net.connect({
    port: target.port,
    host: '127.0.0.1',
    onread: {
      buffer: READ_BUFFER,
      callback: (length, buffer) => {
        chunks.push({ at: epochMs(), text: Buffer.from(buffer.subarray(0, length)).toString('latin1') });
        if (chunks.length === 1) opened.resolve();
        return true;
      },
    },
  });
  const headers = ['Accept: text/event-stream', 'Connection: close'];
  socket.on('connect', () =>
    socket.write(requestBytes(target, 'GET', `/v1/runs/${runId}/events`, { headers })),
  );
  socket.on('error', (error) => {
    opened.reject(error);
    ended.reject(error);
  });
  socket.on('close', () => ended.resolve(delaysIn(chunks, since.at)));
  return { opened: opened.promise, ended: ended.promise };
}

interface Chunk {
  readonly at: number;
  readonly text: string;
}

function delaysIn(chunks: readonly Chunk[], since: number): number[] {
  const delays: number[] = [];
  let arrivedAt = 0;
  const split = eventSplitter(({ data }) => {
    const happenedAt = Date.parse(/"timestamp":"([^"]+)"/.exec(data)?.[1] ?? '');
    if (arrivedAt > since && happenedAt > since) delays.push(arrivedAt - happenedAt);
  });
  for (const chunk of chunks) {
    arrivedAt = chunk.at;
    split(chunk.text);
  }
  return delays;
}

async function createRun(target: Target, body: string): Promise<string> {
  const connection = new Connection(target.port);
  const answer = await connection.send(requestBytes(target, 'POST', '/v1/runs', { body }));
  connection.close();
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.body}`);
  return String(JSON.parse(answer.body.toString()).runId);
}

export async function runFanOut(request: FanOutRequest): Promise<FanOutResult> {
  const since = { at: Number.POSITIVE_INFINITY };
  const runId = await createRun(request, request.body);
  const clients = Array.from({ length: request.clients }, () => connect(request, runId, since));
  await Promise.all(clients.map(({ opened }) => opened));
  since.at = epochMs();
  const delays = await Promise.all(clients.map(({ ended }) => ended));
  const counts = new Set(delays.map((list) => list.length));
  if (counts.size !== 1) throw new Error(`clients heard different numbers of events: ${[...counts]}`);
  const all = delays.flat();
  return {
    clients: request.clients,
    eventsPerClient: delays[0]?.length ?? 0,
    deliveries: all.length,
    delayMs: spreadOf(all),
  };
}

if (import.meta.main) {
  const request: FanOutRequest = JSON.parse(process.argv[2] ?? '');
  console.log(JSON.stringify(await runFanOut(request)));
}
