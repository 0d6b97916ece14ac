/** The process side: opens, reports the result, then answers one job after another until the host disconnects. */
import { Worker } from 'node:worker_threads';
import type { JobMessage } from './wire.ts';

export interface JobServer<Job, Answer> {
  answer(job: Job, onCommitting: () => void): Answer;
  close(): void;
}

export interface ServeOptions<Job, Answer> {
  open(): JobServer<Job, Answer>;
  /** The answer for an error of opening or of a job. */
  failure(error: unknown): Answer;
  /** Ends the process when a job exceeds `MEMORY_BYTES_MAX`. */
  readonly limitsMemory: boolean;
}

export function serveJobs<Job, Answer>({ open, failure, limitsMemory }: ServeOptions<Job, Answer>): void {
  const send = (message: JobMessage<Answer>): void => void process.send?.(message);
  const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url));
  watchdog.unref();
  let server: JobServer<Job, Answer> | undefined;
  const answerTo = (job: Job): Answer => {
    try {
      return server!.answer(job, () => send({ kind: 'committing' }));
    } catch (error) {
      return failure(error);
    }
  };
  process.on('message', (job: Job) => {
    if (limitsMemory) watchdog.postMessage(true);
    send({ kind: 'answer', answer: answerTo(job) });
    if (limitsMemory) watchdog.postMessage(false);
  });
  process.on('disconnect', () => {
    server?.close();
    process.exit();
  });
  try {
    server = open();
    send({ kind: 'opened' });
  } catch (error) {
    send({ kind: 'opened', failure: failure(error) });
  }
}
