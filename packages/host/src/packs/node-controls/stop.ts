/**
 * Pack code that needs something of the engine first, a child or an answer: it stops there, and runs again from the top
 * when that is done.
 *
 * I1  From then on nothing more is done for the code, and what it gives back is not heard.
 */
import type { Outcome } from '@gantry/engine';
import type { CallIo } from '@gantry/sandbox';
import type { Members } from './members.ts';

type Wanted = Extract<Outcome, { readonly call: unknown } | { readonly suspend: unknown }>;

export class Stop {
  #dispatch = 0;
  #wanted: { readonly outcome: Wanted; readonly error: Error } | undefined;

  /** What the node has to wait for. */
  get wanted(): Wanted | undefined {
    return this.#wanted?.outcome;
  }

  /** `error` is what later calls of the code get. */
  want(outcome: Wanted, error: Error): void {
    this.#wanted ??= { outcome, error };
  }

  /** Everything that the code may call, as long as it does not wait: I1. */
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

  /** The process went down under another node: the code began again. */
  #follow({ dispatch }: CallIo): void {
    if (dispatch === this.#dispatch) return;
    this.#dispatch = dispatch;
    this.#wanted = undefined;
  }
}
