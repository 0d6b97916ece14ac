/**
 * Many SSE clients on one run, in a process of their own: options as JSON in the first argument, the
 * result as JSON on stdout.
 */
import { openEventStream } from './event-stream.ts';
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

function connect(target: Target, runId: string, since: { at: number }): Client {
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<readonly number[]>();
  const delays: number[] = [];
  const fail = (error: Error): void => {
    opened.reject(error);
    ended.reject(error);
  };
  openEventStream(target, `/v1/runs/${runId}/events`, {
    onOpen: opened.resolve,
    onEvent: ({ data }) => {
      const arrivedAt = epochMs();
      const happenedAt = Date.parse(/"timestamp":"([^"]+)"/.exec(data)?.[1] ?? '');
      if (happenedAt > since.at) delays.push(arrivedAt - happenedAt);
    },
    onEnd: (error) => (error ? fail(error) : ended.resolve(delays)),
  });
  return { opened: opened.promise, ended: ended.promise };
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
