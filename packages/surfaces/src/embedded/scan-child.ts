/** The host's side of one process that looks through a database file. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LIFELINE_FD } from '../sql-drivers/sqlite-wire.ts';
import type { OpenFile } from './database-files.ts';
import { type Answer, OPENED, type Reply, type Request } from './wire.ts';

const ENTRY = fileURLToPath(new URL('./scan-process.ts', import.meta.url));
/** A process starts in well under a second, also on a busy machine. */
const START_MS = 10_000;
/** [m] A process takes 27 MB of its own, a thread 21: what is not used is not kept. */
const IDLE_MS = 60_000;
const HEAP_MB_MAX = 256;
/** Those who wait behind a scan that takes longer need another process. */
const SLOW_MS = 100;

export type Ended =
  | Answer
  /** It took longer than it may, and is no more. */
  | { readonly kind: 'late' }
  /** The process ended for another reason. */
  | { readonly kind: 'lost' };

type State =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'busy';
      readonly pace: 'starting' | 'quick' | 'slow' | 'late';
      resolve(ended: Ended): void;
    };

export interface ScanChildOptions {
  readonly file: OpenFile;
  readonly scanMsMax: number;
  /** A scan takes long, and nothing says when it will end. */
  onSlow(): void;
  onGone(): void;
}

/** One scan at a time, so that ending it harms no other. */
export class ScanChild {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #options: ScanChildOptions;
  #state: State = { kind: 'idle' };
  #isOpen = false;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ScanChildOptions) {
    this.#options = options;
    this.#child = fork(ENTRY, [JSON.stringify(options.file)], {
      serialization: 'advanced',
      execArgv: ['--no-warnings', `--max-old-space-size=${HEAP_MB_MAX}`],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    });
    this.#child.on('error', () => {});
    this.#child.stdio[LIFELINE_FD]?.on('error', () => {});
    this.#child.on('message', ([id, answer]: Reply) =>
      id === OPENED ? this.#opened(answer) : this.#settle(answer),
    );
    // Replies that were sent before the end arrive before `disconnect`
    const ends = [once(this.#child, 'disconnect'), once(this.#child, 'exit')];
    this.#gone = Promise.allSettled(ends).then(() => {
      clearTimeout(this.#timer);
      options.onGone();
      const last = this.#state;
      this.#state = { kind: 'idle' };
      if (last.kind === 'busy') last.resolve({ kind: last.pace === 'late' ? 'late' : 'lost' });
    });
  }

  get isIdle(): boolean {
    return this.#state.kind === 'idle' && !this.#isEnding && this.#child.connected;
  }

  get isSlow(): boolean {
    return this.#state.kind === 'busy' && this.#state.pace === 'slow';
  }

  scan(request: Request): Promise<Ended> {
    return new Promise((resolve) => {
      this.#state = { kind: 'busy', pace: 'starting', resolve };
      if (this.#isOpen) this.#begin();
      else this.#after(START_MS, () => void this.end());
      this.#child.send(request, () => {});
    });
  }

  /** A scan under way is lost with it: nothing that it could have changed. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isEnding = true;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #opened(answer: Answer): void {
    if (answer.kind !== 'done') {
      this.#settle(answer);
      void this.end();
      return;
    }
    this.#isOpen = true;
    this.#begin();
  }

  /** Starting the process is not part of the time of a scan. */
  #begin(): void {
    const { scanMsMax, onSlow } = this.#options;
    this.#pace('quick');
    this.#after(Math.min(SLOW_MS, scanMsMax), () => {
      this.#pace('slow');
      this.#after(Math.max(0, scanMsMax - SLOW_MS), () => {
        this.#pace('late');
        void this.end();
      });
      onSlow();
    });
  }

  #pace(pace: 'quick' | 'slow' | 'late'): void {
    if (this.#state.kind === 'busy') this.#state = { ...this.#state, pace };
  }

  #settle(answer: Answer): void {
    if (this.#state.kind !== 'busy') return;
    const { resolve } = this.#state;
    this.#state = { kind: 'idle' };
    if (!this.#isEnding) this.#after(IDLE_MS, () => void this.end());
    resolve(answer);
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }
}
