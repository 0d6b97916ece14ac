/** A connection to RabbitMQ, made anew when it is next needed after it was lost, and operations that end. */
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { readAddress } from './address.ts';
import { answered, Unanswered } from './answered.ts';
import { explain, explainOpening } from './errors.ts';
import { openSession, type RabbitSession } from './session.ts';

export interface RabbitLink {
  /** What is not done in time has lost its session: nobody knows what the server still does with it. */
  use<T>(work: (session: RabbitSession) => Promise<T>, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

export const OPERATION_TIMEOUT_MS = 10_000;

/** `onLost`: the server has taken back what was delivered. Throws when the address is none of RabbitMQ. */
export function rabbitLink(url: string, onLost: () => void): RabbitLink {
  const address = readAddress(url);
  const { host } = address;
  const lost = (): void => {
    sessions.forget();
    onLost();
  };
  const sessions = openedWhenNeeded({
    open: () =>
      openSession(address, lost).catch((error: unknown) => {
        throw explainOpening(error, host);
      }),
    close: (session) => session.leave(),
    code: 'queue_backend_unavailable',
  });
  return {
    async use(work, timeoutMs = OPERATION_TIMEOUT_MS) {
      const session = await sessions.get();
      try {
        return await answered(timeoutMs, work(session));
      } catch (error) {
        if (error instanceof Unanswered) void session.leave();
        throw explain(error, host);
      }
    },
    close: sessions.close,
  };
}
