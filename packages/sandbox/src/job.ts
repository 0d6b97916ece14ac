/** One dispatch of one invocation to one process. */
import { randomBytes } from 'node:crypto';
import type { Invocation, NodeError, NodeResult, Receipt } from './invocation.ts';
import type { WallClock } from './wall-clock.ts';

export type JobEnd =
  | { readonly kind: 'settled'; readonly result: NodeResult; readonly variables: unknown }
  /** This invocation had to be stopped. */
  | { readonly kind: 'stopped'; readonly error: NodeError }
  /**
   * The process ended because of another invocation, or before this one could start. A suspect runs alone next time.
   */
  | { readonly kind: 'displaced'; readonly isSuspect: boolean };

const EVENTS_UNDER_WAY_MAX = 16;
/** Shared, since a new error for each call would capture a stack trace. */
const ANSWERED = new Error('The call was answered.');

/** Events in transit to the pack for one call. */
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

  /** The answer is sent after the pack has received every event. */
  async drain(): Promise<void> {
    while (this.#underWay > 0 && !this.#isClosed) await this.#change.promise;
  }

  /** Events are no longer accepted. */
  close(): void {
    this.#isClosed = true;
    this.#changed();
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }
}

/** Primitives and surfaces that the host saw in use. */
export class Usage {
  readonly primitives = new Set<string>();
  readonly surfaces = new Set<string>();

  receipt(atLoad?: Usage): Receipt {
    const primitives = new Set([...this.primitives, ...(atLoad?.primitives ?? [])]);
    return { primitives: [...primitives].sort(), surfaces: [...this.surfaces].sort() };
  }
}

export class Job {
  /** Unguessable, so that pack code cannot impersonate another invocation in its process. */
  readonly id = randomBytes(12).toString('base64url');
  readonly invocation: Invocation;
  readonly dispatch: number;
  readonly usage = new Usage();
  readonly ended: Promise<JobEnd>;
  /** Set once the job runs. */
  clock: WallClock | undefined;
  readonly #settle: (end: JobEnd) => void;
  readonly #windows = new Map<number, EventWindow>();
  /** One for each call: with one signal per job, each removal of a listener would search all listeners. */
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

  /** Call numbers are consecutive; any other number does not come from our runner. */
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
