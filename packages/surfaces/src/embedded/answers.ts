/** What threads and processes that own a connection answer, as the caller meets it. */
import { OpenwopError } from '@gantry/protocol';
import { assertSameCall } from '../call-journal.ts';
import type { Answer } from '../database-answer.ts';
import type { Request } from './wire.ts';

/** Beyond so many that wait, the disk does not keep up and more would only wait longer. */
export const WAITING_MAX = 10_000;

/** Asking again is safe even when it is not known: a write that was kept is on record with its answer. */
export const unavailable = (reason: string, kept = 'Nothing was changed.'): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${reason} ${kept && `${kept} `}Try again later.` });

/** The value, or throws. `request` is null for opening. */
export function readAnswer(request: Pick<Request, 'invocation'> | null, answer: Answer): unknown {
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
