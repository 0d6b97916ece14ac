/** A command of a request: what it answers is recorded in the commit of its effect. */
import type { Answer, RecordAnswer } from '@gantry/http';
import type { OpenwopError } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import { answerBody, type CommandAnswer, type CommandRecord } from '../runtime/command-answer.ts';
import type { CommandResult, RunCommand } from '../runtime/runtime.ts';
import type { ApiDeps } from './context.ts';

type Refused = Extract<CommandResult, { kind: 'refused' }>;

export interface CommandTerms {
  readonly answer: CommandAnswer;
  readonly status: number;
  readonly missing: () => OpenwopError;
  /** What is answered all the same, where nothing is wrong with a run that changed nothing; else it throws. */
  readonly refused: (result: Refused) => CommandAnswer;
}

export async function commanded(
  { runtime, now }: Pick<ApiDeps, 'runtime' | 'now'>,
  key: RunKey,
  command: RunCommand,
  { answer, status, missing, refused }: CommandTerms,
  record: RecordAnswer | undefined,
): Promise<Answer | 'duplicate'> {
  const result = await runtime.command(key, command, recordOf(answer, status, record));
  switch (result.kind) {
    case 'duplicate':
      return 'duplicate';
    case 'not_found':
      throw missing();
    case 'refused':
      return { status, body: answerBody(refused(result), result, now()), recorded: false };
    case 'done':
      // What was recorded is what is answered, to the millisecond
      return {
        status,
        body: result.body ?? answerBody(answer, result, now()),
        recorded: result.body !== undefined,
      };
  }
}

function recordOf(
  answer: CommandAnswer,
  status: number,
  record: RecordAnswer | undefined,
): CommandRecord | undefined {
  if (!record) return;
  const { body: _body, ...rest } = record(status, '');
  return { answer, record: rest };
}
