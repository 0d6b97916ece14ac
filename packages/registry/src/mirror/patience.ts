/** How a mirror deals with a registry that is slow, busy or gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenwopError } from '@gantry/protocol';

const WAITS_MS = [500, 2_000];
/** After so many in a row nobody expects the next one to work. */
const IN_A_ROW_MAX = 8;
const PASSING: ReadonlySet<string> = new Set(['pack_registry_unreachable', 'pack_fetch_failed']);

const isUnreachable = (error: unknown): boolean => error instanceof OpenwopError && PASSING.has(error.code);

export type Wait = (ms: number, signal: AbortSignal) => Promise<unknown>;

const waitFor: Wait = (ms, signal) => sleep(ms, undefined, { signal });

export interface EachOptions<T> {
  readonly items: readonly T[];
  readonly atOnce: number;
  readonly signal: AbortSignal;
  readonly wait?: Wait;
  readonly work: (item: T) => Promise<void>;
  readonly failed: (item: T, error: OpenwopError) => void;
}

/**
 * Works on all items, some at once. What the other registry did not answer is tried again; one that stays silent
 * ends the work. Answers how many items were not tried. An error that is none of the protocol ends it too.
 */
export async function eachOf<T>(options: EachOptions<T>): Promise<number> {
  const { items, atOnce, signal, work, failed } = options;
  let next = 0;
  let silent = 0;
  const isOver = (): boolean => signal.aborted || silent >= IN_A_ROW_MAX || next >= items.length;
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      const item = items[next++] as T;
      try {
        await patiently(options, () => work(item));
        silent = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof OpenwopError)) {
          next = items.length;
          throw error;
        }
        silent = isUnreachable(error) ? silent + 1 : 0;
        failed(item, error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return items.length - next;
}

async function patiently<T>(
  { signal, wait = waitFor }: Pick<EachOptions<T>, 'signal' | 'wait'>,
  work: () => Promise<void>,
): Promise<void> {
  for (const ms of WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error) || signal.aborted) throw error;
      await wait(ms, signal);
    }
  }
  return work();
}
