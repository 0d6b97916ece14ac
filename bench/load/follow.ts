import { openEventStream } from './event-stream.ts';
import type { Target } from './http.ts';

export interface Followed {
  /** From sending the create to hearing that the run has ended. */
  readonly endToEndMs: number;
}

const ENDS: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled']);

/** Follows a run by SSE until it ends. Rejects when the stream closes before that. */
export function followRun(target: Target, runId: string, sentAt: number): Promise<Followed> {
  const { promise, resolve, reject } = Promise.withResolvers<Followed>();
  const stop = openEventStream(target, `/v1/runs/${runId}/events`, {
    onEvent: ({ name }) => {
      if (!ENDS.has(name)) return;
      if (name !== 'run.completed') reject(new Error(`run ${runId} ended with ${name}`));
      resolve({ endToEndMs: performance.now() - sentAt });
      stop();
    },
    onEnd: (error) => reject(error ?? new Error(`the stream of ${runId} closed before the run ended`)),
  });
  return promise;
}
