/**
 * A process with one pack loaded, for one key.
 *
 * I1 Every frame names a job of this process by an id issued here, or the process ends.
 * I2 A job ends exactly once: settled by its result, stopped because it was at fault, or displaced.
 * I3 After a process has ended, it has no jobs.
 * I4 A job that is not repeatable is never displaced after it was started.
 */
import type { CallContext } from './calls.ts';
import { Child, type ChildEnd } from './child.ts';
import {
  endedAlone,
  endedForAnother,
  escapeAttempt,
  notLoaded,
  timedOut,
  tooLarge,
  tooMuchMemory,
} from './fault.ts';
import { loopTurns } from './frame-reader.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Data, Inspection, NodeContext, NodeError } from './invocation.ts';
import type { Command } from './isolation/launch.ts';
import { type Job, type JobEnd, Usage } from './job.ts';
import { type Measured, type Message, ProcessCalls } from './process-calls.ts';
import { cutText, endResult, isObject, nodeError, toNodeError } from './result.ts';
import { type Frame, NOTE_BYTES_MAX } from './runner/wire.mjs';
import { WallClock } from './wall-clock.ts';

const LOGS_MAX = 1000;
const TYPES_MAX = 10_000;
const KIND_MAX = 64;
/** Messages that are written to the store. */
const KEPT: ReadonlySet<unknown> = new Set(['result', 'log', 'emit']);
/** The time that such a message takes on the event loop after it was read; measured. */
const KEEP_MS_PER_BYTE = 40 / (1024 * 1024);
const WATCH_MS = 50;
/** The memory of Node with the runner and no pack. The limit of the pack is added to it. */
const BARE_PROCESS_BYTES = 96 * 1024 * 1024;
/** For an interpreter to start on a busy machine. The load timeout of the pack starts only after that. */
const START_MS = 30_000;
/** The time for an idle process to collect its garbage. */
const COLLECT_MS = 2_000;
const CANCEL_GRACE_MS = 1_000;
const PAST_MAX = 100;
const UNASKED = 'a message that nothing asked for';

export interface PackProcessOptions {
  readonly command: Command;
  readonly open: Readonly<Record<string, unknown>>;
  readonly memoryBytes: number;
  readonly loadMs: number;
  /** Memory that the host uses for the process is charged to this tenant. */
  readonly context: CallContext;
  readonly grants: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Called when work that a node left running fails after the node has ended. */
  readonly onLate: (node: NodeName, error: NodeError) => void;
  readonly onEnd: () => void;
}

export type NodeName = Pick<NodeContext, 'runId' | 'nodeId'>;

/** `starting`: the interpreter starts. `opening`: the pack is loaded. In both states the timer ends the process. */
type State =
  | { readonly kind: 'starting' | 'opening'; readonly timer: NodeJS.Timeout }
  | { readonly kind: 'open' | 'asleep' }
  /** Killed, with the error for its jobs, and the job at fault if known. */
  | { readonly kind: 'ending'; readonly error?: NodeError; readonly guilty?: Job }
  | { readonly kind: 'ended' };

export class PackProcess {
  readonly opened: Promise<Inspection>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Primitives that the module used while it loaded. */
  readonly usedAtLoad = new Usage();
  readonly #options: PackProcessOptions;
  readonly #child: Child;
  readonly #calls: ProcessCalls;
  readonly #heartbeat = new Heartbeat((token) => this.#child.send({ type: 'ping', token }));
  readonly #jobs = new Map<string, Job>();
  /** The most recently ended jobs, by id, until work that they left running fails. */
  readonly #past = new Map<string, NodeName>();
  readonly #opened: (inspection: Inspection) => void;
  readonly #gone: () => void;
  readonly #watch: NodeJS.Timeout;
  #state: State;

  constructor(options: PackProcessOptions) {
    this.#options = options;
    ({ promise: this.opened, resolve: this.#opened } = Promise.withResolvers<Inspection>());
    ({ promise: this.ended, resolve: this.#gone } = Promise.withResolvers<void>());
    this.#child = new Child(options.command, options.context.tenant, {
      message: (frame) => this.#receive(frame),
      end: (end) => this.#ended(end),
    });
    this.#calls = new ProcessCalls(this.#child, {
      context: options.context,
      isRunning: (job) => this.#jobs.has(job.id),
      fail: (error, job) => this.#fail(error, job),
    });
    this.#watch = setInterval(() => this.#measure(), WATCH_MS);
    this.#state = this.#loading('starting', START_MS);
    this.#child.send(options.open);
  }

  /** Ended or ending: accepts no new work. */
  get isDead(): boolean {
    return this.#state.kind === 'ending' || this.#state.kind === 'ended';
  }

  start(job: Job): void {
    const { typeId, ctx, variables, answers, surfaces, key, signal, limits } = job.invocation;
    const given = { ...ctx, tenantId: key.tenant };
    try {
      this.#child.send({ type: 'invoke', id: job.id, typeId, ctx: given, variables, answers, surfaces });
    } catch (error) {
      job.end({ kind: 'stopped', error: toNodeError(error) });
      return;
    }
    this.#jobs.set(job.id, job);
    job.clock = new WallClock(limits.wallClockMs, () => void this.#timeOut(job));
    const cancel = (): void => this.#cancel(job);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    void job.ended.then(() => {
      job.clock?.end();
      signal?.removeEventListener('abort', cancel);
    });
  }

  kill(): void {
    this.#end({});
  }

  /** The child handles messages in order, so it answers the ping after it has collected its garbage. */
  sleep(): void {
    const asleep = { kind: 'asleep' } as const;
    if (!this.#enter(asleep, 'open')) return;
    this.#child.send({ type: 'collect' });
    void this.#heartbeat.isAlive(COLLECT_MS).then(() => {
      if (this.#state === asleep) this.#child.signal('SIGSTOP');
    });
  }

  wake(): void {
    if (this.#enter({ kind: 'open' }, 'asleep')) this.#child.signal('SIGCONT');
  }

  #loading(kind: 'starting' | 'opening', ms: number): State {
    return { kind, timer: setTimeout(() => this.#fail(notLoaded()), ms) };
  }

  /** False when the state is not one of `from`. */
  #enter(next: State, ...from: State['kind'][]): boolean {
    if (!from.includes(this.#state.kind)) return false;
    if ('timer' in this.#state) clearTimeout(this.#state.timer);
    this.#state = next;
    return true;
  }

  #receive({ message, ...frame }: Frame): Promise<void> | void {
    if (this.isDead) return;
    if (!isObject(message)) this.#fail(escapeAttempt('a message that is no object'));
    else if (!this.#receiveForAll(message)) return this.#receiveForOne(message, frame);
  }

  /** Handles messages that concern the whole process; returns false for others. */
  #receiveForAll(message: Message): boolean {
    if (message.type === 'ready' || message.type === 'failed') this.#loaded(message);
    else if (message.type === 'opening') this.#opening();
    else if (message.type === 'crash') this.#fail(toNodeError(message.error));
    else if (message.type === 'call' && message.id === null) this.#calledAtLoad(message);
    else if (message.type === 'violation') this.#violated(message);
    else if (message.type === 'late') this.#late(message);
    else if (message.type !== 'pong') return false;
    else if (!this.#heartbeat.heard(message.token)) this.#fail(escapeAttempt('a pong without a ping'));
    return true;
  }

  #receiveForOne(message: Message, { size, cost }: Measured): Promise<void> | void {
    if (KEPT.has(message.type)) loopTurns.spend(this.#options.context.tenant, cost * KEEP_MS_PER_BYTE);
    const job = this.#jobOf(message);
    if (!job) this.#fail(escapeAttempt('a message for an invocation that it does not run'));
    else if (message.type === 'call') return this.#calls.called(job, message, cost);
    else if (message.type === 'emit' || (message.type === 'unsent' && message.mode === 'emit'))
      return this.#calls.emitted(job, message, { size, cost });
    else if (message.type === 'unsent') return this.#calls.called(job, { ...message, args: [] }, cost);
    else if (message.type === 'log') this.#logged(job, message, size);
    else if (message.type === 'result') this.#settled(job, message, size);
    else if (message.type !== 'ack' || !job.acknowledge(message.call))
      this.#fail(escapeAttempt(UNASKED), job);
  }

  #jobOf({ id }: Message): Job | undefined {
    return typeof id === 'string' ? this.#jobs.get(id) : undefined;
  }

  #logged(job: Job, { level, message, data }: Message, size: number): void {
    if (size > NOTE_BYTES_MAX) this.#fail(escapeAttempt('a log entry that is too large'), job);
    else if (job.takeLog(LOGS_MAX)) job.invocation.log(cutText(level), cutText(message), data as Data);
  }

  /** The runner is up and begins to load the pack. A child that reports this twice is ended. */
  #opening(): void {
    if (this.#state.kind === 'starting') {
      this.#child.started();
      this.#enter(this.#loading('opening', this.#options.loadMs), 'starting');
    } else this.#fail(escapeAttempt(UNASKED));
  }

  #loaded(message: Message): void {
    if (!this.#enter({ kind: 'open' }, 'starting', 'opening')) {
      this.#fail(escapeAttempt(UNASKED));
      return;
    }
    const typeIds = Array.isArray(message.typeIds) ? message.typeIds : [];
    if (typeIds.length > TYPES_MAX) this.#fail(escapeAttempt('more nodes than a pack may have'));
    else if (message.type === 'ready')
      this.#opened({ loaded: true, typeIds: typeIds.map((typeId) => cutText(typeId)) });
    else {
      this.#opened({ loaded: false, error: toNodeError(message.error) });
      this.kill();
    }
  }

  #violated(message: Message): void {
    const error = escapeAttempt(cutText(message.what), cutText(message.escapeKind, KIND_MAX));
    this.#fail(error, this.#jobOf(message));
  }

  /** Reported once per node, and only for recently ended ones. */
  #late({ id, error }: Message): void {
    const node = typeof id === 'string' ? this.#past.get(id) : undefined;
    if (typeof id !== 'string' || !node) return;
    this.#past.delete(id);
    this.#options.onLate(node, toNodeError(error));
  }

  #settled(job: Job, { end, variables }: Message, size: number): void {
    const { outputBytes: limit } = job.invocation.limits;
    if (size <= limit) this.#endJob(job, { kind: 'settled', result: endResult(end), variables });
    else this.#endJob(job, { kind: 'stopped', error: tooLarge(limit, size) });
  }

  #endJob(job: Job, end: JobEnd): void {
    this.#jobs.delete(job.id);
    this.#remember(job);
    const dropped = this.#calls.drop(job);
    if (dropped > 0 && end.kind === 'settled')
      job.invocation.log(
        'warn',
        `The node ended before ${dropped} of its calls had begun; they were not made.`,
      );
    job.end(end);
  }

  #remember({ id, invocation }: Job): void {
    const { runId, nodeId } = invocation.ctx;
    this.#past.set(id, { runId, nodeId });
    const [oldest] = this.#past.keys();
    if (this.#past.size > PAST_MAX && oldest !== undefined) this.#past.delete(oldest);
  }

  /** The module uses a granted primitive while it loads, before any invocation. */
  #calledAtLoad({ method, args, mode }: Message): void {
    const name = method === 'env.read' ? 'env.read' : cutText(Array.isArray(args) ? args[0] : undefined);
    const isPrimitive = method === 'env.read' || method === 'primitive.use';
    if (mode !== 'sync' || !isPrimitive || !this.#options.grants.includes(name)) {
      this.#fail(escapeAttempt('a call outside of an invocation'));
      return;
    }
    this.usedAtLoad.primitives.add(name);
    const value =
      method === 'env.read' && Array.isArray(args) ? this.#options.environment[cutText(args[0])] : null;
    this.#child.answer({ ok: true, value });
  }

  #measure(): void {
    const { memoryBytes } = this.#options;
    const used = (this.#child.memory()?.resident ?? 0) - BARE_PROCESS_BYTES;
    if (used > memoryBytes) this.#fail(tooMuchMemory(memoryBytes, used));
  }

  /** If several jobs run and the process does not answer a ping, any of them may be blocking it. */
  async #timeOut(job: Job): Promise<void> {
    // Reports the memory limit instead, if the process has exceeded it since the last measurement
    this.#measure();
    const error = timedOut(job.invocation.limits.wallClockMs);
    const isSure = this.#jobs.size === 1 || (await this.#heartbeat.isAlive());
    if (this.#jobs.has(job.id)) this.#fail(error, isSure ? job : undefined);
  }

  /** The caller has cancelled: the pack gets a short time to clean up, then it is stopped. */
  #cancel(job: Job): void {
    this.#child.send({ type: 'cancel', id: job.id });
    const error = nodeError('sandbox_invocation_error', 'The invocation was cancelled.');
    const timer = setTimeout(() => this.#fail(error, job), CANCEL_GRACE_MS);
    void job.ended.then(() => clearTimeout(timer));
  }

  /** Ends the process. If the job at fault is unknown, every job is a suspect, unless there is only one. */
  #fail(error: NodeError, guilty?: Job): void {
    this.#end({ error, ...(guilty && this.#jobs.has(guilty.id) && { guilty }) });
  }

  #end(reason: { readonly error?: NodeError; readonly guilty?: Job }): void {
    if (this.#enter({ kind: 'ending', ...reason }, 'starting', 'opening', 'open', 'asleep'))
      this.#child.kill();
  }

  #ended(end: ChildEnd): void {
    const { error = endedAlone(end), guilty } = this.#state.kind === 'ending' ? this.#state : {};
    this.#enter({ kind: 'ended' }, this.#state.kind);
    clearInterval(this.#watch);
    this.#opened({ loaded: false, error });
    const culprit = guilty ?? (this.#jobs.size === 1 ? this.#jobs.values().next().value : undefined);
    for (const job of [...this.#jobs.values()]) {
      if (job === culprit) this.#endJob(job, { kind: 'stopped', error });
      else if (job.invocation.repeatable)
        this.#endJob(job, { kind: 'displaced', isSuspect: culprit === undefined });
      else this.#endJob(job, { kind: 'stopped', error: endedForAnother() });
    }
    this.#calls.close();
    this.#options.onEnd();
    this.#gone();
  }
}
