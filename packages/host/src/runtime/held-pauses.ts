/** Pauses that let nodes under way end first, for a while. */
import { type Command, isAtWork, type Run } from '@gantry/engine';
import type { Clock } from './clock.ts';
import type { Task } from './run-task.ts';

/** Callers wait for their answer meanwhile. What takes longer ends while the run is paused. */
const HELD_MS_MAX = 5_000;

export class HeldPauses {
  readonly tasks: Task[] = [];
  readonly #clock: Clock;
  /** Of the clock. */
  #until = 0;
  /** Has waited, and is decided next. */
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

  /** Keeps a pause that has to wait, until `due` gives it back. */
  holds(task: Task, run: Run): boolean {
    const { command } = task;
    if (command.type !== 'pause' || command.drainPolicy !== 'drain-current-node') return false;
    if (!isAtWork(run) || task === this.#released) return false;
    if (!this.isHolding) this.#until = this.#clock.elapsedMs() + HELD_MS_MAX;
    this.tasks.push(task);
    return true;
  }

  /** The next pause, once nothing is under way or the time is over. It happens then, not when it was asked for. */
  due(run: Run, now: number): Task | undefined {
    if (isAtWork(run) && this.#msLeft > 0) return undefined;
    const next = this.tasks.shift();
    this.#released = next && { ...next, command: { ...next.command, now } };
    return this.#released;
  }

  /** When the run has to be looked at, in wall time. */
  earlier(at: number | undefined, now: number): number | undefined {
    if (!this.isHolding) return at;
    return Math.min(at ?? Number.POSITIVE_INFINITY, now + Math.max(0, this.#msLeft));
  }
}

/** While a pause is held, time that runs out ends nodes and starts none. */
export const endingOnly = (command: Command): Command =>
  command.type === 'wake' ? { ...command, onlyEnds: true } : command;
