/** The host's side of one process that looks through a database file. */

import type { Answer } from '../database-answer.ts';
import { JobProcess, START_MS } from '../job-process/job-process.ts';
import type { OpenFile } from './database-files.ts';
import { OPENED, type Reply, type Request } from './wire.ts';

const ENTRY = new URL('./scan-process.ts', import.meta.url);
/** Those who wait behind a scan that takes longer need another process. */
const SLOW_MS = 100;

export type Ended = Awaited<ReturnType<JobProcess<Reply, Answer>['run']>>;

export interface ScanChildOptions {
  readonly file: OpenFile;
  readonly scanMsMax: number;
  /** It can be given a scan. */
  onOpen(): void;
  /** A scan takes long, and nothing says when it will end. */
  onSlow(): void;
  /** `unopened`: why it never could be given one. */
  onGone(unopened: Ended | null): void;
}

export class ScanChild {
  readonly #process: JobProcess<Reply, Answer>;
  readonly #options: ScanChildOptions;
  #unopened: Ended | null = { kind: 'lost', signal: null };
  #isSlow = false;

  constructor(options: ScanChildOptions) {
    this.#options = options;
    this.#process = new JobProcess({
      entry: ENTRY,
      args: [JSON.stringify(options.file)],
      onGone: () => options.onGone(this.#unopened),
      hear: ([id, answer]) => (id === OPENED ? this.#opened(answer) : this.#process.answer(answer)),
    });
    this.#process.after(START_MS, () => void this.end());
  }

  get isIdle(): boolean {
    return this.#process.state === 'idle' && this.#unopened === null;
  }

  get isSlow(): boolean {
    return this.#process.state === 'busy' && this.#isSlow;
  }

  scan(request: Request): Promise<Ended> {
    const { scanMsMax, onSlow } = this.#options;
    this.#isSlow = false;
    const ended = this.#process.run(request);
    this.#process.after(Math.min(SLOW_MS, scanMsMax), () => {
      this.#isSlow = true;
      this.#process.endAfter(Math.max(0, scanMsMax - SLOW_MS));
      onSlow();
    });
    return ended;
  }

  /** A scan under way is lost with it: nothing that it could have changed. */
  end(): Promise<void> {
    return this.#process.end();
  }

  #opened(answer: Answer): void {
    if (answer.kind === 'done') {
      this.#unopened = null;
      this.#process.rest();
      this.#options.onOpen();
      return;
    }
    this.#unopened = answer;
    void this.end();
  }
}
