/** Keeps N connections busy: each sends the next create as soon as the last one was answered. */

import { type Followed, followRun } from './follow.ts';
import { Connection, requestBytes, type Target } from './http.ts';

export interface LoadOptions extends Target {
  readonly connections: number;
  /** Ends when either is reached. */
  readonly durationMs: number;
  readonly requestsMax: number;
  /** The body of `POST /v1/runs`. */
  readonly body: string;
  /** One run in so many is followed to its end by SSE; 0 follows none. */
  readonly followOneIn: number;
}

export interface LoadCounts {
  readonly created: number;
  /** Answers other than 201, by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly createMs: readonly number[];
  readonly endToEndMs: readonly number[];
  readonly startedAt: number;
}

interface Tally {
  created: number;
  sent: number;
  readonly refused: Record<string, number>;
  readonly createMs: number[];
  readonly followed: Promise<Followed>[];
}

const runIdIn = (body: Buffer): string => String(JSON.parse(body.toString()).runId);

async function keepBusy(
  connection: Connection,
  options: LoadOptions,
  tally: Tally,
  until: number,
): Promise<void> {
  const request = requestBytes(options, 'POST', '/v1/runs', { body: options.body });
  while (performance.now() < until && tally.sent < options.requestsMax) {
    tally.sent++;
    const sentAt = performance.now();
    const answer = await connection.send(request);
    if (answer.status !== 201) {
      tally.refused[answer.status] = (tally.refused[answer.status] ?? 0) + 1;
      continue;
    }
    tally.createMs.push(performance.now() - sentAt);
    tally.created++;
    if (options.followOneIn > 0 && tally.created % options.followOneIn === 0) {
      const followed = followRun(options, runIdIn(answer.body), sentAt);
      // A failure is told when the load is over; until then nobody waits for it.
      followed.catch(() => undefined);
      tally.followed.push(followed);
    }
  }
}

export async function runClosedLoop(options: LoadOptions): Promise<LoadCounts> {
  const connections = Array.from({ length: options.connections }, () => new Connection(options.port));
  await Promise.all(connections.map((connection) => connection.opened()));
  const tally: Tally = { created: 0, sent: 0, refused: {}, createMs: [], followed: [] };
  const startedAt = performance.now();
  const until = startedAt + options.durationMs;
  await Promise.all(connections.map((connection) => keepBusy(connection, options, tally, until)));
  for (const connection of connections) connection.close();
  const followed = await Promise.all(tally.followed);
  return { ...tally, endToEndMs: followed.map(({ endToEndMs }) => endToEndMs), startedAt };
}
