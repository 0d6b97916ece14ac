/** Between what a command answers and what the API answers and records. */
import type { Answer, RecordAnswer } from '@gantry/http';
import { answerBody, type CommandAnswer, type CommandRecord } from '../runtime/command-answer.ts';
import type { CommandResult } from '../runtime/runtime.ts';

export function recordOf(
  answer: CommandAnswer,
  status: number,
  record: RecordAnswer | undefined,
): CommandRecord | undefined {
  if (!record) return;
  const { body: _body, ...rest } = record(status, '');
  return { answer, record: rest };
}

type Done = Extract<CommandResult, { kind: 'done' }>;

/** What was recorded is what is answered, to the millisecond. */
export function answerOf(answer: CommandAnswer, status: number, done: Done, now: number): Answer {
  return { status, body: done.body ?? answerBody(answer, done, now), recorded: done.body !== undefined };
}
