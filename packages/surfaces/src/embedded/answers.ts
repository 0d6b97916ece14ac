/** What threads and processes that own a connection answer, as the caller meets it. */
import { OpenwopError } from '@gantry/protocol';
import { unavailable } from '../backend-errors.ts';
import { assertSameCall } from '../call-journal.ts';
import type { Answer } from '../database-answer.ts';
import type { Asked } from './wire.ts';

/** The value, or throws. `request` is null for opening. */
export function readAnswer(request: Pick<Asked, 'invocation'> | null, answer: Answer): unknown {
  switch (answer.kind) {
    case 'done':
      return answer.value;
    case 'recorded':
      if (request?.invocation) assertSameCall(request.invocation.call, answer);
      return answer.value;
    case 'refused': {
      const { code, message, details } = answer;
      throw new OpenwopError(code, { details, ...(message !== undefined && { message }) });
    }
    case 'unavailable':
      throw unavailable(`The database answered: ${answer.reason}.`);
    case 'fault':
      throw new Error(answer.stack);
  }
}
