/**
 * Where the calls of one process wait for their turn.
 *
 * A call is small and its answer may be large, and nobody knows before it is there: 8,000 calls for values of 1 MB
 * took 3 GB of the host. So few are under way at once, from their beginning until the child has the answer, and none
 * begins while the child leaves lying what it was told.
 *
 * I1 The calls of one invocation begin in the order of their numbers; invocations take turns.
 * I2 A process goes on, slowly, however much others hold: `FREE_CALLS` ask for no room.
 */
import type { Place, Share } from './room.ts';

const CALLS_MAX = 128;
const FREE_CALLS = 4;
/** Counted for an answer that is not there yet; so there may be 2,048 calls under way in all. */
const ANSWER_BYTES = 128 * 1024;

/** `undefined` when its invocation has ended before its turn came. */
export type Begin = (pass: Pass | undefined) => void;

/** Of a call that is under way. */
export interface Pass {
  /** So large is the answer. */
  answered(bytes: number): void;
  leave(): void;
}

/** What the process is told, and how much of it lies. */
export interface Outflow {
  readonly isClear: boolean;
  /** Resolves when it is, or the process is gone. */
  clear(): Promise<void>;
}

export class Door {
  readonly #answers: Share;
  readonly #outflow: Outflow;
  readonly #waiting = new Map<string, Begin[]>();
  #underWay = 0;
  #waitsForRoom = false;
  #waitsForOutflow = false;

  constructor(answers: Share, outflow: Outflow) {
    this.#answers = answers;
    this.#outflow = outflow;
  }

  /** `begin` is called at once or when it is its turn. */
  enter(jobId: string, begin: Begin): void {
    const queue = this.#waiting.get(jobId);
    if (queue) queue.push(begin);
    else this.#waiting.set(jobId, [begin]);
    this.#open();
  }

  /** For calls that block their process, which so makes no other. */
  pass(): Pass {
    return this.#passOf(this.#answers.hold(0), () => {});
  }

  /** What waits for an invocation that has ended never begins; says how many those are. */
  drop(jobId: string): number {
    const queue = this.#waiting.get(jobId) ?? [];
    this.#waiting.delete(jobId);
    for (const begin of queue) begin(undefined);
    return queue.length;
  }

  #open(): void {
    while (this.#waiting.size > 0 && this.#underWay < CALLS_MAX) {
      const place = this.#outflow.isClear ? this.#place() : this.#waitForOutflow();
      if (!place) return;
      this.#begin(place);
    }
  }

  /** I2. */
  #place(): Place | undefined {
    if (this.#underWay < FREE_CALLS) return this.#answers.hold(0);
    return this.#answers.tryTake(ANSWER_BYTES) ?? this.#waitForRoom();
  }

  #waitForOutflow(): undefined {
    if (this.#waitsForOutflow) return;
    this.#waitsForOutflow = true;
    void this.#outflow.clear().then(() => {
      this.#waitsForOutflow = false;
      this.#open();
    });
  }

  #waitForRoom(): undefined {
    if (this.#waitsForRoom) return;
    this.#waitsForRoom = true;
    this.#answers.take(ANSWER_BYTES, (place) => {
      this.#waitsForRoom = false;
      if (this.#waiting.size > 0) this.#begin(place);
      else place.leave();
      this.#open();
    });
  }

  #begin(place: Place): void {
    this.#underWay += 1;
    const pass = this.#passOf(place, () => {
      this.#underWay -= 1;
      this.#open();
    });
    this.#next()?.(pass);
  }

  #passOf(place: Place, left: () => void): Pass {
    let isLeft = false;
    return {
      answered: (bytes) => place.resize(Math.max(bytes, place.bytes)),
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        place.leave();
        left();
      },
    };
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
