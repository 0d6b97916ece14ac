/** The host's side of a process that has one job at a time, so that ending it harms no other. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LIFELINE_FD } from './lifeline.ts';

const HEAP_MB_MAX = 256;
/** [m] A process takes 27 MB of its own, a thread 21: what is not used is not kept. */
const IDLE_MS = 60_000;
/** For a slow disk: a commit that was begun is let end. */
export const COMMIT_MS = 15_000;
/** A process starts in well under a second, also on a busy machine. */
export const START_MS = 10_000;

export type Unanswered =
  /** It took longer than it may, and is no more. */
  | { readonly kind: 'late' }
  /** The process ended for another reason. */
  | { readonly kind: 'lost'; readonly signal: NodeJS.Signals | null };

interface Running<Answer> {
  readonly isLate: boolean;
  resolve(ended: Answer | Unanswered): void;
}

export interface JobProcessOptions<Message> {
  readonly entry: URL;
  readonly args?: readonly string[];
  hear(message: Message): void;
  onGone(): void;
}

export class JobProcess<Message, Answer> {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #running: Running<Answer> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor({ entry, args = [], hear, onGone }: JobProcessOptions<Message>) {
    this.#child = fork(fileURLToPath(entry), args, {
      serialization: 'advanced',
      execArgv: ['--no-warnings', `--max-old-space-size=${HEAP_MB_MAX}`],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    });
    this.#child.on('error', () => {});
    const lifeline = this.#child.stdio[LIFELINE_FD]?.on('error', () => {});
    if (lifeline && 'unref' in lifeline) (lifeline.unref as () => void)();
    this.#child.on('message', hear);
    // Replies that were sent before the end arrive before `disconnect`
    const ends = [once(this.#child, 'disconnect'), once(this.#child, 'exit')];
    this.#gone = Promise.allSettled(ends).then(() => {
      clearTimeout(this.#timer);
      onGone();
      const running = this.#running;
      this.#running = null;
      running?.resolve(running.isLate ? { kind: 'late' } : { kind: 'lost', signal: this.#child.signalCode });
    });
    this.rest();
  }

  get state(): 'idle' | 'busy' | 'ending' {
    if (this.#isEnding || !this.#child.connected) return 'ending';
    return this.#running ? 'busy' : 'idle';
  }

  /** Whether it keeps the host from ending. */
  hold(isHeld: boolean): void {
    const act = isHeld ? 'ref' : 'unref';
    this.#child[act]();
    this.#child.channel?.[act]();
  }

  /** Ends with `answer`, or with the process. How long it may take is said with `after` and `endAfter`. */
  run(job: object): Promise<Answer | Unanswered> {
    return new Promise((resolve) => {
      this.#running = { isLate: false, resolve };
      this.#child.send(job, () => {});
    });
  }

  answer(answer: Answer): void {
    const running = this.#running;
    if (!running) return;
    this.#running = null;
    if (!this.#isEnding) this.rest();
    running.resolve(answer);
  }

  /** Of such times there is one, and the last counts. */
  after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  /** Then the job under way is late. */
  endAfter(ms: number): void {
    if (this.#running?.isLate) return;
    this.after(ms, () => {
      if (this.#running) this.#running = { ...this.#running, isLate: true };
      this.#kill();
    });
  }

  /** Lets a job under way end. */
  async close(): Promise<void> {
    this.#isEnding = true;
    if (this.#child.connected) this.#child.disconnect();
    this.endAfter(COMMIT_MS);
    await this.#gone;
  }

  /** At once; a job under way is lost. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#kill();
    await this.#gone;
  }

  /** Until it is needed again, or for good when that takes long. */
  rest(): void {
    this.after(IDLE_MS, () => void this.close());
    this.#timer?.unref();
  }

  #kill(): void {
    this.#isEnding = true;
    this.#child.kill('SIGKILL');
  }
}
