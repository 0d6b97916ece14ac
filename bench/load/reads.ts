/** Keeps N connections busy with GET requests, one path after the other. */
import { Connection, requestBytes, type Target } from './http.ts';

export interface ReadsOptions extends Target {
  readonly paths: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
}

export interface ReadsResult {
  readonly readsPerSecond: number;
  readonly readMs: readonly number[];
  /** Answers other than 200. */
  readonly refused: number;
}

export async function runReads(options: ReadsOptions): Promise<ReadsResult> {
  const { paths, connections: count, durationMs } = options;
  const requests = paths.map((path) => requestBytes(options, 'GET', path));
  const connections = Array.from({ length: count }, () => new Connection(options.port));
  await Promise.all(connections.map((connection) => connection.opened()));
  const readMs: number[] = [];
  let [sent, refused] = [0, 0];
  const startedAt = performance.now();
  const keepBusy = async (connection: Connection): Promise<void> => {
    while (performance.now() - startedAt < durationMs) {
      const request = requests[sent++ % requests.length];
      if (request === undefined) throw new Error('nothing to read');
      const sentAt = performance.now();
      const { status } = await connection.send(request);
      if (status === 200) readMs.push(performance.now() - sentAt);
      else refused++;
    }
  };
  await Promise.all(connections.map(keepBusy));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const connection of connections) connection.close();
  return { readsPerSecond: readMs.length / seconds, readMs, refused };
}
