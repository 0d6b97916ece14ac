/** What a run that is being watched asks: shown to everyone, and on a terminal put to the person there. */
import { ApiError, type StreamEvent } from '@gantry/client';
import type { Call } from './command.ts';
import { converse, isAnswerable } from './dialogue.ts';
import type { Painter } from './painter.ts';
import { howToAnswer, type Question, questionOf, renderQuestion } from './question.ts';
import { printable } from './style.ts';

export interface Offers {
  see(event: StreamEvent): void;
  /** Takes back what is still offered. */
  close(): Promise<void>;
}

type Watching = Pick<Call, 'client' | 'io' | 'style'>;

/** Refusals after which another answer may do. */
const MENDABLE: ReadonlySet<number> = new Set([400, 422]);

/** One question at a time; each is withdrawn when someone else answers it. */
export function createOffers(watching: Watching, painter: Painter, signal: AbortSignal): Offers {
  const { io, style } = watching;
  const open = new Map<string, AbortController>();
  const atTerminal = io.stdin.isTTY && io.stdout.isTTY;
  let turn: Promise<void> = Promise.resolve();

  function put(question: Question): void {
    painter.print(renderQuestion(question, io.now(), style).map((line) => `  ${line}`));
    if (!atTerminal || !isAnswerable(question)) {
      sayHow(painter, question);
      return;
    }
    const withdrawal = new AbortController();
    open.set(question.interruptId, withdrawal);
    const until = AbortSignal.any([signal, withdrawal.signal]);
    turn = turn.then(() => offer(watching, painter, question, until));
  }

  return {
    see(event) {
      const asked = event.type === 'interrupt.requested' ? questionOf(event) : undefined;
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
  question: Question,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  painter.hold();
  try {
    for (;;) {
      const value = await converse(question, (prompt) => io.stdin.ask(prompt, signal));
      if (value === undefined) break;
      const refusal = await refusalOf(client.interrupts.resolve(question.runId, question.nodeId, value));
      if (!refusal) return;
      io.stdout.write(`${printable(refusal.message)}\n`);
      if (!MENDABLE.has(refusal.status)) break;
    }
    sayHow(painter, question);
  } catch (error) {
    // The watching goes on whatever becomes of the prompt.
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

const sayHow = (painter: Painter, question: Question): void =>
  painter.print(howToAnswer(question).map((command) => `    ${printable(command)}`));
