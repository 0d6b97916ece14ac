/** The host's side of one process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer } from '../embedded/wire.ts';
import { LIFELINE_FD, MEMORY_SIGNAL, type SqliteJob, type SqliteReply } from './sqlite-wire.ts';

const ENTRY = fileURLToPath(new URL('./sqlite-process.ts', import.meta.url));
const IDLE_MS = 60_000;
/** A process starts in well under a second, also on a busy machine. */
const START_MS = 10_000;
/** For a slow disk: a commit that was begun is let end. */
const COMMIT_MS = 15_000;

export type Ended =
  | Answer
  | { readonly kind: 'late' }
  /** It took too much memory. */
  | { readonly kind: 'large' }
  /** The process ended; whether it was committing decides what is known. */
  | { readonly kind: 'lost'; readonly isCommitting: boolean };

interface Running {
  readonly isLate: boolean;
  readonly isCommitting: boolean;
  resolve(ended: Ended): void;
}

export class SqliteProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #running: Running | null = null;
  #timer: NodeJS.Timeout;
  #isNew = true;
  #isEnding = false;

  constructor(onGone: () => void) {
    this.#child = fork(ENTRY, {
      serialization: 'advanced',
      execArgv: ['--no-warnings', '--max-old-space-size=256'],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    });
    this.#timer = this.#retireLater();
    this.#child.on('error', () => {});
    this.#child.stdio[LIFELINE_FD]?.on('error', () => {});
    this.#child.on('message', (reply: SqliteReply) => this.#hear(reply));
    // Replies that were sent before the end arrive before `disconnect`
    const ends = [once(this.#child, 'disconnect'), once(this.#child, 'exit')];
    this.#gone = Promise.allSettled(ends).then(() => {
      onGone();
      const running = this.#running;
      this.#running = null;
      clearTimeout(this.#timer);
      running?.resolve(this.#endOf(running));
    });
    this.#keepAlive(false);
  }

  get isIdle(): boolean {
    return this.#running === null && !this.#isEnding && this.#child.connected;
  }

  run(job: SqliteJob): Promise<Ended> {
    const allowedMs = job.limits.timeoutMs + (this.#isNew ? START_MS : 0);
    this.#isNew = false;
    this.#keepAlive(true);
    return new Promise((resolve) => {
      this.#running = { isLate: false, isCommitting: false, resolve };
      this.#endAfter(allowedMs);
      this.#child.send(job, () => {});
    });
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    if (this.#child.connected) this.#child.disconnect();
    this.#endAfter(COMMIT_MS);
    await this.#gone;
  }

  #hear(reply: SqliteReply): void {
    const running = this.#running;
    if (!running) return;
    if (reply.kind === 'committing') {
      this.#running = { ...running, isCommitting: true };
      if (!running.isLate) this.#endAfter(COMMIT_MS);
      return;
    }
    this.#running = null;
    clearTimeout(this.#timer);
    this.#timer = this.#retireLater();
    this.#keepAlive(false);
    running.resolve(reply);
  }

  #endOf({ isLate, isCommitting }: Running): Ended {
    if (isCommitting) return { kind: 'lost', isCommitting };
    if (isLate) return { kind: 'late' };
    return this.#child.signalCode === MEMORY_SIGNAL ? { kind: 'large' } : { kind: 'lost', isCommitting };
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isEnding = true;
      if (this.#running) this.#running = { ...this.#running, isLate: true };
      this.#child.kill('SIGKILL');
    }, ms);
  }

  #retireLater(): NodeJS.Timeout {
    return setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  /** Only a job under way keeps the host from ending. */
  #keepAlive(isNeeded: boolean): void {
    const lifeline = this.#child.stdio[LIFELINE_FD];
    if (lifeline && 'unref' in lifeline) (lifeline.unref as () => void)();
    if (isNeeded) {
      this.#child.ref();
      this.#child.channel?.ref();
    } else {
      this.#child.unref();
      this.#child.channel?.unref();
    }
  }
}
