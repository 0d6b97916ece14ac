/**
 * Who uses the console. Without a session every address shows how to sign in, and then what it is the address of. A
 * session that ends while a page is open is renewed in place: what was typed there stays.
 */
import { ApiError } from '@gantry/client';
import type { SignInRequest, WhoAmI } from '@gantry/protocol';
import { QueryCache, QueryClient, useMutation, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { setHostTime } from '../look/clock.ts';
import { host } from './host.ts';

const SESSION = ['session'];

const isUnauthenticated = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** An answer that nobody is signed in is told to whatever shows the session. */
export const queries = new QueryClient({
  defaultOptions: { queries: { retry: false } },
  queryCache: new QueryCache({
    onError(error, { queryKey }) {
      if (isUnauthenticated(error) && queryKey[0] !== SESSION[0])
        void queries.invalidateQueries({ queryKey: SESSION });
    },
  }),
});

interface Known {
  /** Whoever is or was signed in here. */
  readonly who: WhoAmI | null;
  readonly isIn: boolean;
}

/** Being signed out is an answer like any other: while it is asked for again, what a form holds stays. */
async function ask(): Promise<Known> {
  try {
    return known(await host.session.who());
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
    return { who: queries.getQueryData<Known>(SESSION)?.who ?? null, isIn: false };
  }
}

function known(who: WhoAmI): Known {
  setHostTime(Date.parse(who.now));
  return { who, isIn: true };
}

export type SessionState =
  | { readonly kind: 'asking' | 'signed-out' | 'unreachable' }
  /** `isEnded`: the data of the page is from before. */
  | {
      readonly kind: 'signed-in';
      readonly who: WhoAmI;
      readonly isEnded: boolean;
      readonly isUnreachable: boolean;
    };

const ASK_EVERY_MS = 60_000;
const ASK_AGAIN_MS = 4_000;

export function useSession(): SessionState {
  const { data, isError, isFetched } = useQuery({
    queryKey: SESSION,
    queryFn: ask,
    refetchInterval({ state }) {
      if (state.status === 'error') return ASK_AGAIN_MS;
      return state.data?.isIn ? ASK_EVERY_MS : false;
    },
  });
  if (!data) return { kind: isFetched ? 'unreachable' : 'asking' };
  if (data.who === null) return { kind: 'signed-out' };
  return { kind: 'signed-in', who: data.who, isEnded: !data.isIn, isUnreachable: isError };
}

export const useSignIn = () =>
  useMutation({
    mutationFn: (request: SignInRequest) => host.session.signIn(request),
    onSuccess(who) {
      queries.setQueryData(SESSION, known(who));
      void queries.invalidateQueries();
    },
  });

/** Nothing of the session stays in the page. */
export const useSignOut = () =>
  useMutation({ mutationFn: () => host.session.signOut(), onSuccess: () => location.assign('/') });

const Who = createContext<WhoAmI | null>(null);

export const WhoProvider = ({ who, children }: { who: WhoAmI; children: ReactNode }) => (
  <Who value={who}>{children}</Who>
);

/** The person of a page that is shown only to people who are signed in. */
export function useWho(): WhoAmI {
  const who = useContext(Who);
  if (who === null) throw new Error('a page that needs a session was shown without one');
  return who;
}
