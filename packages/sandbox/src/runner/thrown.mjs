/** Whatever pack code threw, as data. */
import { framesOf } from './frames.mjs';

/** As much as the host keeps. */
const MESSAGE_MAX = 4096;

/** What the engine says where the system gives it no more memory. */
const NO_MEMORY =
  /^Array buffer allocation failed|^WebAssembly\.Memory.*(Unable to grow|could not allocate)/i;

const codeOf = ({ code, message }) =>
  code === undefined && NO_MEMORY.test(message) ? 'sandbox_memory_exceeded' : code;

/** Reads only own or inherited data of it; a getter that throws is not our problem. */
export function describe(thrown) {
  try {
    if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null)
      return { message: `${thrown}`.slice(0, MESSAGE_MAX) };
    const { message, details, retryable, capability, name, stack } = thrown;
    return {
      message: `${message ?? name ?? 'The pack threw an object.'}`.slice(0, MESSAGE_MAX),
      code: codeOf(thrown),
      details,
      retryable,
      capability,
      frames: framesOf(stack),
    };
  } catch {
    return { message: 'The pack threw something that cannot be read.' };
  }
}

/** Without what may be no data. */
export const withoutDetails = ({ message, code, retryable, frames }) => ({
  message,
  code: typeof code === 'string' ? code : undefined,
  retryable: retryable === true,
  frames,
});
