import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes, type Target } from './http.ts';

const UNFINISHED = ['pending', 'running'] as const;
const POLL_MS = 5;

/** Whether a list answer holds nothing, whatever its items are called. */
export function isEmptyList(body: string): boolean {
  const answer: unknown = JSON.parse(body);
  const list = Object.values(answer ?? {}).find(Array.isArray);
  if (!list) throw new Error(`not a list of runs: ${body.slice(0, 200)}`);
  return list.length === 0;
}

/** Resolves when no run is pending or running any more. */
export async function drain(target: Target, timeoutMs: number): Promise<void> {
  const connection = new Connection(target.port);
  const deadline = performance.now() + timeoutMs;
  try {
    for (const status of UNFINISHED) {
      const request = requestBytes(target, 'GET', `/v1/host/gantry/runs?status=${status}&limit=1`);
      for (;;) {
        const answer = await connection.send(request);
        if (answer.status !== 200) throw new Error(`the list of runs answered ${answer.status}`);
        if (isEmptyList(answer.body.toString())) break;
        if (performance.now() > deadline) throw new Error(`runs are still ${status} after ${timeoutMs} ms`);
        await sleep(POLL_MS);
      }
    }
  } finally {
    connection.close();
  }
}
