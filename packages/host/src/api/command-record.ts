/** Runs a command of a request. Its answer is recorded in the same commit as its effect. */
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
  /** The answer to a command that changed nothing, if that is not an error; otherwise it throws. */
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
      // Return the recorded body, so that a repeat gets the same timestamps
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
