/**
 * The queue for the calls of one process.
 *
 * A call is small, but its answer may be large, and its size is unknown until it is ready: 8,000 calls for
 * values of 1 MB took 3 GB of the host. So only few calls run at once, from their beginning until the child has
 * received the answer, and none begins while the child does not read its input.
 *
 * I1 The calls of one invocation begin in the order of their numbers; invocations take turns.
 * I2 A process always makes progress, if slowly, however much memory others hold: `FREE_CALLS` calls wait for
 *    no memory.
 * I3 A process that has ended holds nothing and waits for nothing.
 */
import { limiter, type Release } from '@gantry/limiter';

const CALLS_MAX = 128;
const FREE_CALLS = 4;
const MIB = 1024 * 1024;
/** Reserved for an answer that is not ready yet. It limits the calls in progress to 2,048 in total. */
const ANSWER_BYTES = 128 * 1024;
/** Memory for answers, from the beginning of a call until the child has received its answer. */
export const answerMemory = limiter({ max: 256 * MIB, perTenantMax: 128 * MIB });

const NOTHING = (): void => {};

/** The pass is `undefined` when the invocation ended before the call could begin. */
export type Begin = (pass: Pass | undefined) => void;

/** Held by a call in progress. */
export interface Pass {
  /** Reports the size of the answer. */
  answered(bytes: number): void;
  leave(): void;
}

/** The output to the process. */
export interface Outflow {
  /** Whether little of it is unread by the process. */
  readonly isClear: boolean;
  /** Resolves when `isClear` is true, or the process has ended. */
  clear(): Promise<void>;
}

export class CallGate {
  readonly #tenant: string;
  readonly #outflow: Outflow;
  readonly #waiting = new Map<string, Begin[]>();
  readonly #passes = new Set<Pass>();
  readonly #closed = new AbortController();
  #underWay = 0;
  #waitsForMemory = false;
  #waitsForOutflow = false;

  constructor(tenant: string, outflow: Outflow) {
    this.#tenant = tenant;
    this.#outflow = outflow;
  }

  /** `begin` is called at once or when its turn comes. */
  enter(jobId: string, begin: Begin): void {
    const queue = this.#waiting.get(jobId);
    if (queue) queue.push(begin);
    else this.#waiting.set(jobId, [begin]);
    this.#open();
  }

  /** For calls that block their process, so that it makes no other. */
  pass(): Pass {
    return this.#passOf(NOTHING, 0, NOTHING);
  }

  /** Drops the waiting calls of an invocation that has ended, and returns their number. */
  drop(jobId: string): number {
    const queue = this.#waiting.get(jobId) ?? [];
    this.#waiting.delete(jobId);
    for (const begin of queue) begin(undefined);
    return queue.length;
  }

  /** I3. */
  close(): void {
    this.#closed.abort();
    for (const pass of this.#passes) pass.leave();
  }

  #open(): void {
    while (this.#waiting.size > 0 && this.#underWay < CALLS_MAX) {
      if (!this.#outflow.isClear) return void this.#waitForOutflow();
      // I2
      const isFree = this.#underWay < FREE_CALLS;
      const release = isFree ? NOTHING : answerMemory.tryAcquire(this.#tenant, ANSWER_BYTES);
      if (!release) return void this.#waitForMemory();
      this.#begin(release, isFree ? 0 : ANSWER_BYTES);
    }
  }

  async #waitForOutflow(): Promise<void> {
    if (this.#waitsForOutflow) return;
    this.#waitsForOutflow = true;
    await this.#outflow.clear();
    this.#waitsForOutflow = false;
    this.#open();
  }

  async #waitForMemory(): Promise<void> {
    if (this.#waitsForMemory) return;
    this.#waitsForMemory = true;
    const options = { weight: ANSWER_BYTES, signal: this.#closed.signal };
    const release = await answerMemory.acquire(this.#tenant, options).catch(() => undefined);
    this.#waitsForMemory = false;
    if (release && this.#waiting.size > 0) this.#begin(release, ANSWER_BYTES);
    else release?.();
    this.#open();
  }

  #begin(release: Release, bytes: number): void {
    this.#underWay += 1;
    const left = (): void => {
      this.#underWay -= 1;
      this.#open();
    };
    this.#next()?.(this.#passOf(release, bytes, left));
  }

  /** `release` returns `reserved` bytes. */
  #passOf(release: Release, reserved: number, left: () => void): Pass {
    let held = release;
    const pass: Pass = {
      answered: (bytes) => {
        if (bytes <= reserved || !this.#passes.has(pass)) return;
        held();
        held = answerMemory.hold(this.#tenant, bytes);
      },
      leave: () => {
        if (!this.#passes.delete(pass)) return;
        held();
        left();
      },
    };
    this.#passes.add(pass);
    return pass;
  }

  /** I1. */
  #next(): Begin | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [jobId, queue] = first;
    const begin = queue.shift();
    this.#waiting.delete(jobId);
    if (queue.length > 0) this.#waiting.set(jobId, queue);
    return begin;
  }
}
