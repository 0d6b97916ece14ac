/** Members of `ctx` that the host serves while pack code runs. */
import { OpenwopError } from '@gantry/protocol';
import type { Invocation, SurfaceTable } from '@gantry/sandbox';

type Call = Invocation['call'];

export interface Members {
  /** By their path in `ctx`. */
  readonly table: SurfaceTable;
  /** Primitives that the sandbox leaves to the host. */
  readonly primitives?: readonly string[];
  /** Called before the code runs. */
  load?(): Promise<void>;
  call(...args: Parameters<Call>): ReturnType<Call>;
  /** The refusal of a call of a member that is denied to the pack, by its capability. */
  denialOf?(capability: string): OpenwopError | undefined;
}

/** If several parts have a path, the first serves it. */
export function together(parts: readonly Members[]): Members {
  const table: SurfaceTable = Object.assign({}, ...parts.toReversed().map((part) => part.table));
  return {
    table,
    load: async () => {
      for (const part of parts) await part.load?.();
    },
    call: async (method, args, io) => {
      const part = parts.find(
        ({ table, primitives }) => Object.hasOwn(table, method) || primitives?.includes(method),
      );
      if (part) return part.call(method, args, io);
      const message = `This host does not offer ctx.${method}.`;
      throw new OpenwopError('capability_not_provided', { message });
    },
    denialOf: (capability) => parts.map((part) => part.denialOf?.(capability)).find((denial) => denial),
  };
}

/** Results that end the run or direct the handling of a failure; the host serves no calls for them. */
export const ENDINGS: Members = {
  table: { terminate: 'terminate', applyErrorDirective: 'directive' },
  call: async (method) => {
    throw new OpenwopError('capability_not_provided', { message: `ctx.${method} is not a call.` });
  },
};
