/** The host's side of one process that looks through a database file. */
import { JobProcess, START_MS } from '../sql-drivers/job-process.ts';
import type { OpenFile } from './database-files.ts';
import { type Answer, OPENED, type Reply, type Request } from './wire.ts';

const ENTRY = new URL('./scan-process.ts', import.meta.url);
/** Those who wait behind a scan that takes longer need another process. */
const SLOW_MS = 100;

export type Ended = Awaited<ReturnType<JobProcess<Reply, Answer>['run']>>;

export interface ScanChildOptions {
  readonly file: OpenFile;
  readonly scanMsMax: number;
  /** A scan takes long, and nothing says when it will end. */
  onSlow(): void;
  onGone(): void;
}

export class ScanChild {
  readonly #process: JobProcess<Reply, Answer>;
  readonly #options: ScanChildOptions;
  #isOpen = false;
  #isSlow = false;

  constructor(options: ScanChildOptions) {
    this.#options = options;
    this.#process = new JobProcess({
      entry: ENTRY,
      args: [JSON.stringify(options.file)],
      onGone: options.onGone,
      hear: ([id, answer]) => (id === OPENED ? this.#opened(answer) : this.#process.answer(answer)),
    });
  }

  get isIdle(): boolean {
    return this.#process.state === 'idle';
  }

  get isSlow(): boolean {
    return this.#process.state === 'busy' && this.#isSlow;
  }

  scan(request: Request): Promise<Ended> {
    this.#isSlow = false;
    const ended = this.#process.run(request);
    if (this.#isOpen) this.#begin();
    else this.#process.after(START_MS, () => void this.end());
    return ended;
  }

  /** A scan under way is lost with it: nothing that it could have changed. */
  end(): Promise<void> {
    return this.#process.end();
  }

  #opened(answer: Answer): void {
    this.#isOpen = answer.kind === 'done';
    if (this.#isOpen) {
      this.#begin();
      return;
    }
    this.#process.answer(answer);
    void this.end();
  }

  /** Starting the process is not part of the time of a scan. */
  #begin(): void {
    const { scanMsMax, onSlow } = this.#options;
    this.#process.after(Math.min(SLOW_MS, scanMsMax), () => {
      this.#isSlow = true;
      this.#process.endAfter(Math.max(0, scanMsMax - SLOW_MS));
      onSlow();
    });
  }
}
