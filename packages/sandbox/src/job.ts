/** One dispatch of one invocation to one process. */
import { randomBytes } from 'node:crypto';
import type { Invocation, NodeError, NodeResult, Receipt } from './invocation.ts';
import type { WallClock } from './wall-clock.ts';

export type JobEnd =
  | { readonly kind: 'settled'; readonly result: NodeResult; readonly variables: unknown }
  /** It was this invocation that had to be stopped. */
  | { readonly kind: 'stopped'; readonly error: NodeError }
  /** The process went down for another one, or before it could start; as a suspect it runs alone next time. */
  | { readonly kind: 'displaced'; readonly isSuspect: boolean };

const EVENTS_UNDER_WAY_MAX = 16;
/** A reason of its own costs a stack trace. */
const ANSWERED = new Error('The call was answered.');

/** Events on their way to the pack for one call. */
class EventWindow {
  #underWay = 0;
  #isClosed = false;
  #change = Promise.withResolvers<void>();

  async enter(): Promise<void> {
    while (this.#underWay >= EVENTS_UNDER_WAY_MAX && !this.#isClosed) await this.#change.promise;
    this.#underWay += 1;
  }

  leave(): boolean {
    if (this.#underWay === 0) return false;
    this.#underWay -= 1;
    this.#changed();
    return true;
  }

  /** The answer comes after the pack has taken every event. */
  async drain(): Promise<void> {
    while (this.#underWay > 0 && !this.#isClosed) await this.#change.promise;
  }

  /** Nothing takes events any more. */
  close(): void {
    this.#isClosed = true;
    this.#changed();
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }
}

/** What the host saw used. */
export class Usage {
  readonly primitives = new Set<string>();
  readonly surfaces = new Set<string>();

  receipt(atLoad?: Usage): Receipt {
    const primitives = new Set([...this.primitives, ...(atLoad?.primitives ?? [])]);
    return { primitives: [...primitives].sort(), surfaces: [...this.surfaces].sort() };
  }
}

export class Job {
  /** Unguessable, so that pack code cannot speak for another invocation in its process. */
  readonly id = randomBytes(12).toString('base64url');
  readonly invocation: Invocation;
  readonly dispatch: number;
  readonly usage = new Usage();
  readonly ended: Promise<JobEnd>;
  /** Once it runs. */
  clock: WallClock | undefined;
  readonly #settle: (end: JobEnd) => void;
  readonly #windows = new Map<number, EventWindow>();
  /** One for each call: with one signal for the job, each removal of a listener would search all of them. */
  readonly #calls = new Set<AbortController>();
  #ordinal = 0;
  #logs = 0;

  constructor(invocation: Invocation, dispatch: number) {
    this.invocation = invocation;
    this.dispatch = dispatch;
    ({ promise: this.ended, resolve: this.#settle } = Promise.withResolvers<JobEnd>());
  }

  end(end: JobEnd): void {
    for (const call of this.#calls) call.abort();
    for (const window of this.#windows.values()) window.close();
    this.#settle(end);
  }

  /** Call numbers are dense; anything else is not from our runner. */
  takeOrdinal(call: unknown): call is number {
    if (call !== this.#ordinal) return false;
    this.#ordinal += 1;
    return true;
  }

  beginCall(): AbortController {
    const call = new AbortController();
    this.#calls.add(call);
    return call;
  }

  endCall(call: AbortController): void {
    this.#calls.delete(call);
    call.abort(ANSWERED);
  }

  takeLog(max: number): boolean {
    this.#logs += 1;
    return this.#logs <= max;
  }

  openWindow(call: number): EventWindow {
    const window = new EventWindow();
    this.#windows.set(call, window);
    return window;
  }

  acknowledge(call: unknown): boolean {
    return typeof call === 'number' && (this.#windows.get(call)?.leave() ?? false);
  }

  async closeWindow(call: number): Promise<void> {
    await this.#windows.get(call)?.drain();
    this.#windows.delete(call);
  }
}
