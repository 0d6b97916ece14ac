/** Pauses that wait for running nodes to end first, for a limited time. */
import { type Command, isAtWork, type Run } from '@gantry/engine';
import type { Clock } from './clock.ts';
import type { Task } from './run-task.ts';

/** Callers wait this long for their answer. Nodes that take longer end while the run is paused. */
const HELD_MS_MAX = 5_000;

export class HeldPauses {
  readonly tasks: Task[] = [];
  readonly #clock: Clock;
  /** In monotonic time. */
  #until = 0;
  /** The pause that has waited and is decided next. */
  #released: Task | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isHolding(): boolean {
    return this.tasks.length > 0;
  }

  get #msLeft(): number {
    return this.#until - this.#clock.elapsedMs();
  }

  /** Holds a pause that has to wait, until `due` returns it. */
  holds(task: Task, run: Run): boolean {
    const { command } = task;
    if (command.type !== 'pause' || command.drainPolicy !== 'drain-current-node') return false;
    if (!isAtWork(run) || task === this.#released) return false;
    if (!this.isHolding) this.#until = this.#clock.elapsedMs() + HELD_MS_MAX;
    this.tasks.push(task);
    return true;
  }

  /** The next pause, once no node is running or the time is over. It takes effect `now`, not when requested. */
  due(run: Run, now: number): Task | undefined {
    if (isAtWork(run) && this.#msLeft > 0) return undefined;
    const next = this.tasks.shift();
    this.#released = next && { ...next, command: { ...next.command, now } };
    return this.#released;
  }

  /** The time of the next check of the run, in wall time. */
  earlier(at: number | undefined, now: number): number | undefined {
    if (!this.isHolding) return at;
    return Math.min(at ?? Number.POSITIVE_INFINITY, now + Math.max(0, this.#msLeft));
  }
}

/** While a pause is held, a due time may end nodes but starts none. */
export const endingOnly = (command: Command): Command =>
  command.type === 'wake' ? { ...command, onlyEnds: true } : command;
