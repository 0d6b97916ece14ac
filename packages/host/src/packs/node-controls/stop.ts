/**
 * Stops pack code that first needs something from the engine, a child run or an answer. It runs again from the top when
 * that is done.
 *
 * I1  From then on the host serves no calls of the code, and ignores its result.
 */
import type { Outcome } from '@gantry/engine';
import type { CallIo } from '@gantry/sandbox';
import type { Members } from './members.ts';

type Wanted = Extract<Outcome, { readonly call: unknown } | { readonly suspend: unknown }>;

export class Stop {
  #dispatch = 0;
  #wanted: { readonly outcome: Wanted; readonly error: Error } | undefined;

  /** The outcome that the node has to wait for. */
  get wanted(): Wanted | undefined {
    return this.#wanted?.outcome;
  }

  /** Later calls of the code get `error`. */
  want(outcome: Wanted, error: Error): void {
    this.#wanted ??= { outcome, error };
  }

  /** The members that the code may call until it has to wait: I1. */
  closing(members: Members): Members {
    return {
      table: members.table,
      call: async (method, args, io) => {
        this.#follow(io);
        if (this.#wanted) throw this.#wanted.error;
        return members.call(method, args, io);
      },
    };
  }

  /** The process crashed because of another node, and the code started again. */
  #follow({ dispatch }: CallIo): void {
    if (dispatch === this.#dispatch) return;
    this.#dispatch = dispatch;
    this.#wanted = undefined;
  }
}
