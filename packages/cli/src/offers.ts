/** Shows the interrupts of a watched run, and on a terminal asks the user to answer them. */
import { ApiError, type StreamEvent } from '@gantry/client';
import type { Call } from './command.ts';
import { converse, isAnswerable } from './dialogue.ts';
import { howToAnswer, type Interrupt, interruptIn, renderInterrupt } from './interrupt.ts';
import type { Painter } from './painter.ts';
import { printable } from './style.ts';

export interface Offers {
  see(event: StreamEvent): void;
  /** Withdraws open prompts. */
  close(): Promise<void>;
}

type Watching = Pick<Call, 'client' | 'io' | 'style'>;

/** Refusals after which another answer may succeed. */
const CORRECTABLE: ReadonlySet<number> = new Set([400, 422]);

/** One interrupt at a time; each is withdrawn when someone else answers it. */
export function createOffers(watching: Watching, painter: Painter, signal: AbortSignal): Offers {
  const { io, style } = watching;
  const open = new Map<string, AbortController>();
  const atTerminal = io.stdin.isTTY && io.stdout.isTTY;
  let turn: Promise<void> = Promise.resolve();

  function put(interrupt: Interrupt): void {
    painter.print(renderInterrupt(interrupt, io.now(), style).map((line) => `  ${line}`));
    if (!atTerminal || !isAnswerable(interrupt)) {
      sayHow(painter, interrupt);
      return;
    }
    const withdrawal = new AbortController();
    open.set(interrupt.interruptId, withdrawal);
    const until = AbortSignal.any([signal, withdrawal.signal]);
    turn = turn.then(() => offer(watching, painter, interrupt, until));
  }

  return {
    see(event) {
      const asked = event.type === 'interrupt.requested' ? interruptIn(event) : undefined;
      if (asked) put(asked);
      if (event.type === 'interrupt.resolved') open.get(String(event.payload.interruptId))?.abort();
    },
    async close() {
      for (const withdrawal of open.values()) withdrawal.abort();
      await turn;
    },
  };
}

async function offer(
  { client, io }: Watching,
  painter: Painter,
  interrupt: Interrupt,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  painter.hold();
  try {
    for (;;) {
      const value = await converse(interrupt, (prompt) => io.stdin.ask(prompt, signal));
      if (value === undefined) break;
      const refusal = await refusalOf(client.interrupts.resolve(interrupt.runId, interrupt.nodeId, value));
      if (!refusal) return;
      io.stdout.write(`${printable(refusal.message)}\n`);
      if (!CORRECTABLE.has(refusal.status)) break;
    }
    sayHow(painter, interrupt);
  } catch (error) {
    // Watching continues if the prompt fails.
    if (!signal.aborted) io.stderr.write(`${printable(String(error))}\n`);
  } finally {
    painter.release();
  }
}

async function refusalOf(answer: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const sayHow = (painter: Painter, interrupt: Interrupt): void =>
  painter.print(howToAnswer(interrupt).map((command) => `    ${printable(command)}`));
