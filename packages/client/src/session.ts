import type { SignInLink, SignInRequest, WhoAmI } from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

/** Who is asking. Browsers sign in, and are then known by a cookie instead of a key. */
export interface Session {
  who(): Promise<WhoAmI>;
  /** From a page of the host only. */
  signIn(request: SignInRequest): Promise<WhoAmI>;
  signOut(): Promise<void>;
  /** An address that signs in a browser once, as the key of this client. `to` is the path that opens then. */
  link(to?: string): Promise<SignInLink>;
}

const SESSION = '/v1/host/gantry/session';

export function createSession(transport: Transport): Session {
  const { read, send, remove } = createCalls(transport);
  return {
    who: () => read(SESSION),
    signIn: (body) => send(SESSION, body),
    signOut: () => remove(SESSION),
    link: (to) => send(`${SESSION}/links`, to === undefined ? {} : { to }),
  };
}
