/** Whatever pack code threw, as data. */
import { framesOf } from './frames.mjs';

/** As much as the host keeps. */
const MESSAGE_MAX = 4096;

/** Reads only own or inherited data of it; a getter that throws is not our problem. */
export function describe(thrown) {
  try {
    if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null)
      return { message: `${thrown}`.slice(0, MESSAGE_MAX) };
    const { message, code, details, retryable, capability, name, stack } = thrown;
    return {
      message: `${message ?? name ?? 'The pack threw an object.'}`.slice(0, MESSAGE_MAX),
      code,
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
