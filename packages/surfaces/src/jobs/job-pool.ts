/**
 * Jobs in processes that can be killed.
 *
 * I1  A process has one job at a time, which ends by its answer, its time, or with its process.
 * I2  Tenants take turns, and one tenant never has all processes: `packages/limiter`.
 * I3  A process starts when a job has its turn and every other process is slow; the job takes whichever is idle first.
 */
import { LimiterError, type LimiterOptions, limiter } from '@gantry/limiter';
import { JobProcess, type JobProcessOptions, type Unanswered } from './job-process.ts';

export interface JobPoolOptions extends LimiterOptions, Pick<JobProcessOptions<never>, 'entry' | 'slowMs'> {
  readonly args?: readonly string[];
}

interface Waiting<Job extends object, Answer extends object> {
  begin(process: JobProcess<Job, Answer>): void;
  end(ended: Answer | Unanswered): void;
  refuse(error: Error): void;
}

export class JobPool<Job extends object, Answer extends object> {
  readonly #options: JobPoolOptions;
  readonly #turns;
  readonly #processes = new Set<JobProcess<Job, Answer>>();
  /** Jobs that have a turn but no process yet. */
  #waiting: Waiting<Job, Answer>[] = [];
  #isClosed = false;

  constructor(options: JobPoolOptions) {
    this.#options = options;
    this.#turns = limiter(options);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Rejects with `LimiterError` when the job was not started. `ms` counts from its start, after `ready`. */
  run(tenant: string, job: Job, ms: number, ready?: () => Promise<void>): Promise<Answer | Unanswered> {
    return this.#turns.run(tenant, async () => {
      await ready?.();
      if (this.#isClosed) throw new LimiterError('closed');
      return new Promise<Answer | Unanswered>((resolve, refuse) => {
        this.#waiting.push({ begin: (process) => resolve(process.run(job, ms)), end: resolve, refuse });
        this.#serve();
      });
    });
  }

  /** Lets running jobs end, or kills them. */
  async close(jobs: 'end' | 'kill'): Promise<void> {
    this.#isClosed = true;
    this.#turns.close();
    for (const { refuse } of this.#waiting) refuse(new LimiterError('closed'));
    this.#waiting = [];
    await Promise.all(this.#processes.values().map((each) => (jobs === 'end' ? each.close() : each.end())));
  }

  #serve(): void {
    for (const process of this.#processes) if (process.isIdle) this.#waiting.shift()?.begin(process);
    if (this.#waiting.length > 0 && this.#processes.values().every(({ isSlow }) => isSlow)) this.#start();
  }

  #start(): void {
    const { entry, args = [], slowMs } = this.#options;
    const process: JobProcess<Job, Answer> = new JobProcess({
      entry,
      args,
      slowMs,
      onChange: () => this.#serve(),
      onGone: (unopened) => {
        this.#processes.delete(process);
        // One waiting job gets the reason; otherwise processes that cannot open would be started forever
        if (unopened) this.#waiting.shift()?.end(unopened);
        this.#serve();
      },
    });
    this.#processes.add(process);
  }
}
