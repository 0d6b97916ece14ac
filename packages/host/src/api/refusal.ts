import type { Refusal } from '@gantry/engine';
import { ERRORS, type ErrorCode, OpenwopError } from '@gantry/protocol';

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** What the engine refused, as the answer to whoever asked. */
export function refusalError({ code, message, details }: Refusal): OpenwopError {
  if (!isErrorCode(code)) throw new Error(`the engine refused with ${code}, which is not in the catalogue`);
  return new OpenwopError(code, { message, ...(details && { details }) });
}
