import { OpenwopError } from '@gantry/protocol';
import { unavailable } from './backend-errors.ts';
import { recordedAnswer } from './calls/call-journal.ts';
import type { NumberedCall } from './calls/surface-call.ts';
import type { Answer } from './refusal.ts';

interface Journaled {
  readonly invocation: { readonly call: NumberedCall } | null;
}

/** Returns the value, or throws. `request` is null for opening. */
export function readAnswer(request: Journaled | null, answer: Answer): unknown {
  switch (answer.kind) {
    case 'done':
      return answer.value;
    case 'recorded':
      if (!request?.invocation) throw new Error('a record of no call');
      return recordedAnswer(request.invocation.call, answer);
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
