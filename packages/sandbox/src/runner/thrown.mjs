/** Converts values thrown by pack code to data. */
import { framesOf } from './frames.mjs';

/** The limit of the host. */
const MESSAGE_MAX = 4096;

/** Messages of the engine when the system refuses more memory. */
const NO_MEMORY =
  /^Array buffer allocation failed|^WebAssembly\.Memory.*(Unable to grow|could not allocate)/i;

const codeOf = ({ code, message }) =>
  code === undefined && NO_MEMORY.test(message) ? 'sandbox_memory_exceeded' : code;

/** Reads properties of the thrown value; if a getter throws, a fixed message is used. */
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

/** Omits members that may not be data. */
export const withoutDetails = ({ message, code, retryable, frames }) => ({
  message,
  code: typeof code === 'string' ? code : undefined,
  retryable: retryable === true,
  frames,
});
