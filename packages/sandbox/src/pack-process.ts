/**
 * A process with one pack loaded, for one key.
 *
 * I1 Every frame names a job of this process by an id issued here, or the process ends.
 * I2 A job ends exactly once: settled by its result, stopped as the guilty one, or displaced.
 * I3 After a process has ended, none of its jobs is left.
 * I4 A job that is not repeatable is never displaced once it was started.
 */
import { answerCall, assertOffered, type CallContext, EscapeAttempt } from './calls.ts';
import { Child, type ChildEnd } from './child.ts';
import { Credit } from './credit.ts';
import {
  endedAlone,
  endedForAnother,
  escapeAttempt,
  notLoaded,
  timedOut,
  tooLarge,
  tooMuchMemory,
} from './fault.ts';
import { Heartbeat } from './heartbeat.ts';
import type { CallIo, Data, Inspection, NodeError } from './invocation.ts';
import type { Command } from './isolation/launch.ts';
import type { Job } from './job.ts';
import { Usage } from './receipt.ts';
import { endResult, isObject, nodeError, toNodeError } from './result.ts';
import { HEAD_BYTES_MAX } from './runner/wire.mjs';
import { unsentAnswer, unsentCall } from './unsent.ts';

const LOGS_MAX = 1000;
const WATCH_MS = 50;
/** Node with the runner and no pack; what a pack may use comes on top. */
const BARE_PROCESS_BYTES = 96 * 1024 * 1024;
/** For an interpreter to start on a busy machine; only then the clock of the pack begins. */
const START_MS = 10_000;
const CANCEL_GRACE_MS = 1_000;
/** Bytes beyond are for calls: events and logs are kept as JSON. */
const NOTE_BYTES_MAX = HEAD_BYTES_MAX;

export interface PackProcessOptions {
  readonly command: Command;
  readonly open: Readonly<Record<string, unknown>>;
  readonly memoryBytes: number;
  readonly loadMs: number;
  readonly context: CallContext;
  readonly grants: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly onEnd: () => void;
}

type Frame = Readonly<Record<string, unknown>>;

export class PackProcess {
  readonly opened: Promise<Inspection>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** Primitives that the module used while it loaded. */
  readonly usedAtLoad = new Usage();
  readonly #options: PackProcessOptions;
  readonly #child: Child;
  readonly #credit: Credit;
  readonly #heartbeat = new Heartbeat((token) => this.#child.send({ type: 'ping', token }));
  readonly #jobs = new Map<string, Job>();
  readonly #opened: (inspection: Inspection) => void;
  readonly #ended: () => void;
  readonly #watch: NodeJS.Timeout;
  #loadTimer: NodeJS.Timeout;
  #isOpening = false;
  #fault: { readonly error: NodeError; readonly guilty?: Job } | undefined;
  #isKilled = false;
  #isDead = false;
  /** A call that blocks the child; it can make no other. */
  #isBlocked = false;

  constructor(options: PackProcessOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<Inspection>();
    this.opened = promise;
    this.#opened = resolve;
    const end = Promise.withResolvers<void>();
    this.ended = end.promise;
    this.#ended = end.resolve;
    this.#child = new Child(options.command, {
      message: (message, size) => this.#receive(message, size),
      end: (end) => this.#end(end),
    });
    this.#credit = new Credit((bytes) => this.#child.send({ type: 'credit', bytes }));
    this.#watch = setInterval(() => this.#measure(), WATCH_MS);
    this.#loadTimer = setTimeout(() => this.#fail(notLoaded()), START_MS);
    this.#child.send(options.open);
  }

  /** Gone or about to go: not for new work. */
  get isDead(): boolean {
    return this.#isDead || this.#isKilled || this.#fault !== undefined;
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
    const timer = setTimeout(() => void this.#timeOut(job), limits.wallClockMs);
    const cancel = (): void => this.#cancel(job);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    void job.ended.then(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    });
  }

  kill(): void {
    this.#isKilled = true;
    this.#child.kill();
  }

  sleep(): void {
    this.#child.signal('SIGSTOP');
  }

  wake(): void {
    this.#child.signal('SIGCONT');
  }

  #receive(message: unknown, size: number): Promise<void> | void {
    if (this.#isDead || this.#fault) return;
    if (!isObject(message)) this.#fail(escapeAttempt('a message that is no object'));
    else if (!this.#receiveForAll(message)) return this.#receiveForOne(message, size);
  }

  /** What concerns the process as a whole; false for the rest. */
  #receiveForAll(message: Frame): boolean {
    if (message.type === 'ready' || message.type === 'failed') this.#loaded(message);
    else if (message.type === 'opening') this.#opening();
    else if (message.type === 'crash') this.#fail(toNodeError(message.error));
    else if (message.type === 'call' && message.id === null) this.#calledAtLoad(message);
    else if (message.type === 'violation') this.#violated(message);
    else if (message.type !== 'pong') return false;
    else if (!this.#heartbeat.heard(message.token)) this.#fail(escapeAttempt('an answer to nothing'));
    return true;
  }

  #receiveForOne(message: Frame, size: number): Promise<void> | void {
    const job = this.#jobOf(message);
    if (!job) this.#fail(escapeAttempt('a message for an invocation that it does not run'));
    else if (message.type === 'call') return this.#called(job, message, size);
    else if (message.type === 'emit' || (message.type === 'unsent' && message.mode === 'emit'))
      return this.#emitted(job, message, size);
    else if (message.type === 'unsent') return this.#called(job, { ...message, args: [] }, size);
    else if (message.type === 'log') this.#logged(job, message, size);
    else if (message.type === 'result') this.#settled(job, message, size);
    else if (message.type !== 'ack' || !job.acknowledge(message.call))
      this.#fail(escapeAttempt('a message that nothing asked for'), job);
  }

  #jobOf({ id }: Frame): Job | undefined {
    return typeof id === 'string' ? this.#jobs.get(id) : undefined;
  }

  #logged(job: Job, { level, message, data }: Frame, size: number): void {
    if (job.takeLog(LOGS_MAX) && size <= NOTE_BYTES_MAX)
      job.invocation.log(String(level), String(message), data as Data);
  }

  /** Once: the runner is there and begins to load the pack. */
  #opening(): void {
    if (this.#isOpening) this.#fail(escapeAttempt('a message that nothing asked for'));
    this.#isOpening = true;
    clearTimeout(this.#loadTimer);
    this.#loadTimer = setTimeout(() => this.#fail(notLoaded()), this.#options.loadMs);
  }

  #loaded(message: Frame): void {
    clearTimeout(this.#loadTimer);
    this.#child.started();
    const typeIds = Array.isArray(message.typeIds) ? message.typeIds.map(String) : [];
    if (message.type === 'ready') this.#opened({ loaded: true, typeIds });
    else {
      this.#opened({ loaded: false, error: toNodeError(message.error) });
      this.kill();
    }
  }

  #violated(message: Frame): void {
    this.#fail(escapeAttempt(String(message.what), String(message.escapeKind)), this.#jobOf(message));
  }

  #settled(job: Job, { end, variables }: Frame, size: number): void {
    this.#jobs.delete(job.id);
    const { outputBytes: limit } = job.invocation.limits;
    if (size <= limit) job.end({ kind: 'settled', result: endResult(end), variables });
    else job.end({ kind: 'stopped', error: tooLarge(limit, size) });
  }

  async #called(job: Job, message: Frame, size: number): Promise<void> {
    const { call, method, args, mode } = message;
    if (!job.takeOrdinal(call) || typeof method !== 'string' || !Array.isArray(args))
      return this.#fail(escapeAttempt('a call that is not in order'), job);
    if (!this.#mayCall(mode, size)) return this.#fail(escapeAttempt('more calls than it may'), job);
    const underWay = job.beginCall();
    try {
      assertOffered(job.invocation, method, args);
      const io = this.#io(job, call, underWay.signal);
      const answer =
        message.type === 'unsent'
          ? { ok: false, error: unsentCall(method, message) }
          : await answerCall(job, { method, args }, io, this.#options.context);
      await job.closeWindow(call);
      if (this.#jobs.has(job.id)) await this.#answer(job, { call, mode, method }, answer);
    } catch (error) {
      const kind = error instanceof EscapeAttempt ? error.escapeKind : undefined;
      this.#fail(escapeAttempt(error instanceof Error ? error.message : 'a call', kind), job);
    } finally {
      job.endCall(underWay);
      if (mode !== 'sync') this.#credit.give(size);
    }
  }

  #mayCall(mode: unknown, size: number): boolean {
    if (mode !== 'sync') return this.#credit.take(size);
    const mayCall = !this.#isBlocked;
    this.#isBlocked = true;
    return mayCall;
  }

  /** Resolves when the child has taken it: until then its call is under way. */
  #answer(
    job: Job,
    to: { readonly call: number; readonly mode: unknown; readonly method: string },
    answer: object,
  ): Promise<void> {
    const { promise, resolve: taken } = Promise.withResolvers<void>();
    const say = (said: object): void => {
      if (to.mode === 'sync') {
        this.#isBlocked = false;
        this.#child.answer(said, taken);
      } else this.#child.send({ type: 'answer', id: job.id, call: to.call, ...said }, taken);
    };
    try {
      say(answer);
    } catch (error) {
      say({ ok: false, error: unsentAnswer(to.method, error) });
    }
    return promise;
  }

  /** The signal ends when the child has its answer, or nobody waits for it any more. */
  #io(job: Job, call: number, signal: AbortSignal): CallIo {
    const window = job.openWindow(call);
    const send = async (value: Data): Promise<void> => {
      await window.enter();
      if (this.#jobs.has(job.id)) this.#child.send({ type: 'event', id: job.id, call, value });
    };
    return { ordinal: call, dispatch: job.dispatch, signal, send };
  }

  async #emitted(job: Job, message: Frame, size: number): Promise<void> {
    if (!job.takeOrdinal(message.call))
      return this.#fail(escapeAttempt('an event that is not in order'), job);
    if (!this.#credit.take(size)) return this.#fail(escapeAttempt('more events than it may'), job);
    try {
      if (message.type === 'unsent') throw new Error(String(message.reason).slice(0, 300));
      if (size > NOTE_BYTES_MAX) throw new Error(`It may have ${NOTE_BYTES_MAX} bytes.`);
      await job.invocation.emit(message.value as Data);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      job.invocation.log('warn', `An event was dropped: ${reason}`);
    } finally {
      this.#credit.give(size);
    }
  }

  /** The module asks for what was granted while it loads; there is no invocation yet. */
  #calledAtLoad({ method, args, mode }: Frame): void {
    const name = method === 'env.read' ? 'env.read' : String(Array.isArray(args) ? args[0] : undefined);
    const isPrimitive = method === 'env.read' || method === 'primitive.use';
    if (mode !== 'sync' || !isPrimitive || !this.#options.grants.includes(name)) {
      this.#fail(escapeAttempt('a call outside of an invocation'));
      return;
    }
    this.usedAtLoad.primitive(name);
    const value =
      method === 'env.read' && Array.isArray(args) ? this.#options.environment[String(args[0])] : null;
    this.#child.answer({ ok: true, value });
  }

  #measure(): void {
    const bytes = this.#child.residentBytes();
    const limit = BARE_PROCESS_BYTES + this.#options.memoryBytes;
    if (bytes !== undefined && bytes > limit)
      this.#fail(tooMuchMemory(this.#options.memoryBytes, bytes - BARE_PROCESS_BYTES));
  }

  /** With neighbours, a process that does not even answer a ping may be held up by any of them. */
  async #timeOut(job: Job): Promise<void> {
    const error = timedOut(job.invocation.limits.wallClockMs);
    const isSure = this.#jobs.size === 1 || (await this.#heartbeat.isAlive());
    if (this.#jobs.has(job.id)) this.#fail(error, isSure ? job : undefined);
  }

  /** The caller gave up: the pack may tidy up for a moment, then it is stopped. */
  #cancel(job: Job): void {
    this.#child.send({ type: 'cancel', id: job.id });
    const error = nodeError('sandbox_invocation_error', 'The invocation was cancelled.');
    const timer = setTimeout(() => this.#fail(error, job), CANCEL_GRACE_MS);
    void job.ended.then(() => clearTimeout(timer));
  }

  /** Ends the process. Without a known culprit every job is a suspect, unless there is only one. */
  #fail(error: NodeError, guilty?: Job): void {
    if (this.#isDead || this.#fault) return;
    this.#fault = { error, ...(guilty && this.#jobs.has(guilty.id) && { guilty }) };
    this.#child.kill();
  }

  #end(end: ChildEnd): void {
    this.#isDead = true;
    clearInterval(this.#watch);
    clearTimeout(this.#loadTimer);
    const { error, guilty } = this.#fault ?? { error: endedAlone(end), guilty: undefined };
    this.#opened({ loaded: false, error });
    const culprit = guilty ?? (this.#jobs.size === 1 ? this.#jobs.values().next().value : undefined);
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const job of jobs) {
      if (job === culprit) job.end({ kind: 'stopped', error });
      else if (job.invocation.repeatable) job.end({ kind: 'displaced', isSuspect: culprit === undefined });
      else job.end({ kind: 'stopped', error: endedForAnother() });
    }
    this.#options.onEnd();
    this.#ended();
  }
}
