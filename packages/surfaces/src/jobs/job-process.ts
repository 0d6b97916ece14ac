/** The host's side of a job process. It runs one job at a time, so killing it affects no other job. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type JobMessage, LIFELINE_FD, MEMORY_SIGNAL } from './wire.ts';

const HEAP_MB_MAX = 256;
/** Measured: a process takes 27 MB of its own, a thread 21. So an idle process is ended. */
const IDLE_MS = 60_000;
/** The time for a commit in progress to end on a slow disk. */
const COMMIT_MS = 15_000;
/** A process starts in well under a second, even on a busy machine. */
const START_MS = 10_000;

/** Shares the host's compile cache, if it has one. Measured: a start takes 0.1 s of CPU instead of 0.37. */
function compiledCode(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

/** `lost`: the process ended before its answer, and not because of the time limit. */
export type Unanswered = { readonly kind: 'late' | 'large' | 'lost in commit' | 'lost' };

interface Running<Answer> {
  progress: 'working' | 'slow' | 'committing' | 'late';
  resolve(ended: Answer | Unanswered): void;
}

type State<Answer> =
  | { readonly kind: 'starting' | 'idle' }
  | { readonly kind: 'busy'; readonly running: Running<Answer> }
  | { readonly kind: 'ending'; readonly running: Running<Answer> | null };

export interface JobProcessOptions<Answer> {
  readonly entry: URL;
  readonly args: readonly string[];
  /** Jobs that wait behind a longer one need another process. */
  readonly slowMs: number;
  /** The process became idle, or its job became slow. */
  onChange(): void;
  /** `unopened`: why the process could never be given a job. */
  onGone(unopened: Answer | Unanswered | null): void;
}

export class JobProcess<Job extends object, Answer extends object> {
  readonly #options: JobProcessOptions<Answer>;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #state: State<Answer> = { kind: 'starting' };
  #unopened: Answer | Unanswered | null = { kind: 'lost' };
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JobProcessOptions<Answer>) {
    this.#options = options;
    this.#child = fork(fileURLToPath(options.entry), options.args, {
      serialization: 'advanced',
      execArgv: ['--no-warnings', `--max-old-space-size=${HEAP_MB_MAX}`],
      env: compiledCode(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    });
    this.#child.on('error', () => {});
    const lifeline = this.#child.stdio[LIFELINE_FD]?.on('error', () => {});
    if (lifeline && 'unref' in lifeline) (lifeline.unref as () => void)();
    this.#child.on('message', (message: JobMessage<Answer>) => this.#hear(message));
    // Messages sent before the exit arrive before `disconnect`
    const ends = [once(this.#child, 'disconnect'), once(this.#child, 'exit')];
    this.#gone = Promise.allSettled(ends).then(() => this.#ended());
    this.#after(START_MS, () => void this.end());
  }

  get isIdle(): boolean {
    return this.#state.kind === 'idle' && this.#child.connected;
  }

  /** Whether the next job needs another process. */
  get isSlow(): boolean {
    const { kind } = this.#state;
    return kind === 'ending' || (kind === 'busy' && this.#state.running.progress !== 'working');
  }

  /** Resolves with the answer, after `ms`, or when the process ends. */
  run(job: Job, ms: number): Promise<Answer | Unanswered> {
    const { slowMs, onChange } = this.#options;
    return new Promise((resolve) => {
      const running: Running<Answer> = { progress: 'working', resolve };
      this.#state = { kind: 'busy', running };
      this.#keepHost(true);
      this.#child.send(job, () => {});
      this.#after(Math.min(slowMs, ms), () => {
        running.progress = 'slow';
        this.#endAfter(Math.max(0, ms - slowMs));
        onChange();
      });
    });
  }

  /** A running job may end. */
  async close(): Promise<void> {
    this.#end();
    if (this.#child.connected) this.#child.disconnect();
    this.#endAfter(COMMIT_MS);
    await this.#gone;
  }

  /** Kills at once; a running job is lost. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#kill();
    await this.#gone;
  }

  #hear(message: JobMessage<Answer>): void {
    if (message.kind === 'opened') {
      this.#unopened = message.failure ?? null;
      if (this.#unopened) void this.end();
      else if (this.#state.kind === 'starting') this.#rest();
      return;
    }
    const running = 'running' in this.#state ? this.#state.running : null;
    if (running === null) return;
    if (message.kind === 'committing') {
      if (running.progress === 'late') return;
      running.progress = 'committing';
      this.#endAfter(COMMIT_MS);
      return;
    }
    if (this.#state.kind === 'ending') this.#state = { kind: 'ending', running: null };
    else this.#rest();
    running.resolve(message.answer);
  }

  /** Only a job, or a start for a job, keeps the host process alive. */
  #rest(): void {
    this.#state = { kind: 'idle' };
    this.#keepHost(false);
    this.#after(IDLE_MS, () => void this.close());
    this.#timer?.unref();
    this.#options.onChange();
  }

  #keepHost(isKept: boolean): void {
    const act = isKept ? 'ref' : 'unref';
    this.#child[act]();
    this.#child.channel?.[act]();
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  #endAfter(ms: number): void {
    this.#after(ms, () => {
      const running = 'running' in this.#state ? this.#state.running : null;
      if (running && running.progress !== 'committing') running.progress = 'late';
      this.#kill();
    });
  }

  #end(): void {
    this.#state = { kind: 'ending', running: 'running' in this.#state ? this.#state.running : null };
  }

  #kill(): void {
    this.#end();
    this.#child.kill('SIGKILL');
  }

  #ended(): void {
    clearTimeout(this.#timer);
    const running = 'running' in this.#state ? this.#state.running : null;
    this.#end();
    this.#options.onGone(this.#unopened);
    if (running?.progress === 'late') running.resolve({ kind: 'late' });
    else if (running?.progress === 'committing') running.resolve({ kind: 'lost in commit' });
    else running?.resolve({ kind: this.#child.signalCode === MEMORY_SIGNAL ? 'large' : 'lost' });
  }
}
