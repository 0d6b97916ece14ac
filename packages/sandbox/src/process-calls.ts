/**
 * Calls and events that the code in one process sends to the host.
 *
 * I1 A call that has begun ends once: when the child has received its answer, or its invocation has ended. Then
 *    its signal is aborted and its credit and memory are released.
 * I2 A call that the runner would never make ends the process at once: the result may be the next frame.
 */

import { CallGate, type Pass } from './call-gate.ts';
import { answerCall, type CallContext, failureForPack, whyNotOffered } from './calls.ts';
import type { Child } from './child.ts';
import { Credit } from './credit.ts';
import { escapeAttempt, unsentAnswer, unsentCall } from './fault.ts';
import { loopTurns } from './frame-reader.ts';
import type { CallIo, Data, NodeError } from './invocation.ts';
import type { Job } from './job.ts';
import { OutsideFolder } from './primitives/files.ts';
import { cutText, ErrorForPack } from './result.ts';
import { type Frame, NOTE_BYTES_MAX } from './runner/wire.mjs';

export type Message = Readonly<Record<string, unknown>>;
export type Measured = Pick<Frame, 'size' | 'cost'>;

/** The process, as seen from its calls. */
export interface CallsHost {
  readonly context: CallContext;
  isRunning(job: Job): boolean;
  /** Ends the process. */
  fail(error: NodeError, guilty: Job): void;
}

/** Longer than any path of a surface. */
const METHOD_MAX = 256;
/** The event loop time that an answer takes until it is written, beyond creating it. */
const SEND_MS_PER_BYTE = 2 / (1024 * 1024);
const REASON_MAX = 300;

const isMethod = (method: unknown): method is string =>
  typeof method === 'string' && method.length <= METHOD_MAX;

/** A call that was accepted and may begin. */
interface Call {
  readonly number: number;
  readonly method: string;
  readonly message: Message;
  readonly args: readonly Data[];
  readonly cost: number;
}

export class ProcessCalls {
  readonly #child: Child;
  readonly #host: CallsHost;
  readonly #credit: Credit;
  readonly #gate: CallGate;
  /** Whether a synchronous call blocks the child; it can make no other call meanwhile. */
  #isBlocked = false;

  constructor(child: Child, host: CallsHost) {
    this.#child = child;
    this.#host = host;
    this.#credit = new Credit((bytes) => child.send({ type: 'credit', bytes }));
    this.#gate = new CallGate(host.context.tenant, child);
  }

  /** Resolves when the host has performed the call. */
  called(job: Job, message: Message, cost: number): Promise<void> | void {
    const { call: number, method, args, mode } = message;
    if (!job.takeOrdinal(number) || !isMethod(method) || !Array.isArray(args))
      return this.#host.fail(escapeAttempt('a call that is not in order'), job);
    if (!this.#mayCall(mode, cost)) return this.#host.fail(escapeAttempt('more calls than it may'), job);
    const why = whyNotOffered(job.invocation, method, args);
    if (why !== undefined) return this.#host.fail(escapeAttempt(why), job);
    const call: Call = { number, method, message, args, cost };
    if (mode === 'sync') return this.#perform(job, call, this.#gate.pass());
    return new Promise((resolve) => {
      this.#gate.enter(job.id, (pass) => {
        if (!pass) this.#credit.give(cost);
        resolve(pass && this.#perform(job, call, pass));
      });
    });
  }

  #escaped(job: Job, error: unknown): void {
    const kind = error instanceof OutsideFolder ? 'host-fs-escape' : undefined;
    this.#host.fail(escapeAttempt(error instanceof Error ? error.message : 'a call', kind), job);
  }

  #mayCall(mode: unknown, cost: number): boolean {
    if (mode !== 'sync') return this.#credit.take(cost);
    const mayCall = !this.#isBlocked;
    this.#isBlocked = true;
    return mayCall;
  }

  async #perform(job: Job, call: Call, pass: Pass): Promise<void> {
    const { number, method, args, message, cost } = call;
    const { tenant } = this.#host.context;
    const underWay = job.beginCall();
    const over = (): void => {
      job.endCall(underWay);
      pass.leave();
      if (message.mode !== 'sync') this.#credit.give(cost);
    };
    try {
      const io = this.#io(job, call, underWay.signal);
      const answer =
        message.type === 'unsent'
          ? { ok: false, error: unsentCall(method, message) }
          : await answerCall(job, { method, args }, io, this.#host.context);
      await job.closeWindow(number);
      const send = (): void => {
        if (!this.#host.isRunning(job)) {
          over();
          return;
        }
        const size = this.#answer(job, call, answer, over);
        pass.answered(size);
        loopTurns.spend(tenant, size * SEND_MS_PER_BYTE);
      };
      if (message.mode === 'sync') send();
      else await loopTurns.take(tenant, send);
    } catch (error) {
      over();
      this.#escaped(job, error);
    }
  }

  /**
   * Returns the size of the answer. `taken` is called when the child has received it; until then the call is in
   * progress.
   */
  #answer(job: Job, { number, method, message }: Call, answer: object, taken: () => void): number {
    const say = (said: object): number => {
      if (message.mode !== 'sync')
        return this.#child.send({ type: 'answer', id: job.id, call: number, ...said }, taken);
      this.#isBlocked = false;
      return this.#child.answer(said, taken);
    };
    try {
      return say(answer);
    } catch (error) {
      return say({ ok: false, error: unsentAnswer(method, error) });
    }
  }

  /** The signal is aborted when the child has received its answer, or its invocation has ended. */
  #io(job: Job, { number, method, message }: Call, signal: AbortSignal): CallIo {
    const window = job.openWindow(number);
    const send = async (value: Data): Promise<void> => {
      await window.enter();
      await this.#child.clear();
      if (!this.#host.isRunning(job)) throw new Error('The invocation has ended.');
      try {
        this.#child.send({ type: 'event', id: job.id, call: number, value });
      } catch (error) {
        window.leave();
        const { code, message, details } = unsentAnswer(method, error);
        throw new ErrorForPack(code, message, details && { details });
      }
    };
    const untimed: CallIo['untimed'] = (act) => job.clock?.untimed(act) ?? act();
    const isBlocking = message.mode === 'sync';
    return { ordinal: number, dispatch: job.dispatch, signal, isBlocking, send, untimed };
  }

  async emitted(job: Job, message: Message, { size, cost }: Measured): Promise<void> {
    if (!job.takeOrdinal(message.call))
      return this.#host.fail(escapeAttempt('an event that is not in order'), job);
    if (!this.#credit.take(cost)) return this.#host.fail(escapeAttempt('more events than it may'), job);
    if (size > NOTE_BYTES_MAX) return this.#host.fail(escapeAttempt('an event that is too large'), job);
    try {
      if (message.type === 'unsent')
        throw new ErrorForPack('sandbox_invocation_error', cutText(message.reason, REASON_MAX));
      await job.invocation.emit(message.value as Data);
    } catch (error) {
      const { message: reason } = failureForPack('emit', error, this.#host.context.fault);
      job.invocation.log('warn', `An event was dropped: ${reason}`);
    } finally {
      this.#credit.give(cost);
    }
  }

  /** Drops the calls that had not begun when their invocation ended, and returns their number. */
  drop(job: Job): number {
    return this.#gate.drop(job.id);
  }

  /** The process has ended. */
  close(): void {
    this.#gate.close();
  }
}
