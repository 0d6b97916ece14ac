/** Links by which people answer without a key. Each link is for one named person. */
import { accessRefusal, type Interrupt, type Refusal, type Resolver } from '@gantry/engine';
import { fromStored, type InterruptLink, type JsonObject, type StoredEvent } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { InterruptTokens, PersonalToken } from './interrupt-token.ts';

const PEOPLE_MAX = 100;
const NAME_MAX = 128;
/** Prefixes of principals that are not people, and the separator between a key and the voter that it names. */
const RESERVED = /^(key_|principal_|token:|host:|quorum:)|\//;
const UNREADABLE = /^\s|\s$|[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/** Why this name is not permitted; undefined if it is. */
export function nameProblem(person: string): string | undefined {
  if (person === '' || person.length > NAME_MAX) return `must have 1 to ${NAME_MAX} characters`;
  if (UNREADABLE.test(person)) return 'has leading or trailing spaces, or invisible characters';
  return RESERVED.test(person)
    ? 'has a slash, or begins like the id of a key, a principal, a token or the host'
    : undefined;
}

/** The resolver for the holder of a link for this person. */
export const linkHolder = (person: string): Resolver => ({
  principal: person,
  roles: [],
  scopes: [],
  authenticated: false,
  named: true,
});

/** Why a link for this person could not answer. */
export const linkRefusal = (
  interrupt: Pick<Interrupt, 'kind' | 'data' | 'rules'>,
  person: string,
): Refusal | undefined => accessRefusal(interrupt, linkHolder(person), false);

export const linkUrl = (origin: string, token: string): string => `${origin}/v1/interrupts/${token}`;

export const linkOf = (
  origin: string,
  person: string,
  { token, expiresAt }: PersonalToken,
): InterruptLink => ({ person, url: linkUrl(origin, token), expiresAt: new Date(expiresAt).toISOString() });

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/**
 * A link for each person that the interrupt names and whose answer would count. Every delivery attempt gets
 * the same links.
 */
function linksIn(
  tokens: InterruptTokens,
  origin: string,
  { tenant, runId }: RunKey,
  event: StoredEvent,
): InterruptLink[] {
  if (event.type !== 'interrupt.requested') return [];
  const { at, nodeId = '', payload, sealed } = fromStored(event);
  const data = Object(payload.data) as JsonObject;
  const rules = Object(sealed?.rules) as Interrupt['rules'] & object;
  const interrupt = { kind: payload.kind as Interrupt['kind'], data, rules };
  const named = new Set([...textsIn(data.approversList), ...textsIn(Object(data.audience).subjects)]);
  const people = [...named].filter((name) => !nameProblem(name) && !linkRefusal(interrupt, name));
  const expiresAt = typeof payload.timeoutMs === 'number' ? { expiresAt: at + payload.timeoutMs } : {};
  const asked = { interruptId: String(payload.interruptId), ...expiresAt };
  return people.slice(0, PEOPLE_MAX).flatMap((person) => {
    const made = tokens.issueFor(person, { key: { tenant, runId }, nodeId, interrupt: asked }, at);
    return made ? [linkOf(origin, person, made)] : [];
  });
}

/** Without a public URL there are no links. */
export const linksOver =
  (tokens: InterruptTokens, address: { readonly known: () => Promise<string> }) =>
  async (run: RunKey, event: StoredEvent): Promise<readonly InterruptLink[]> => {
    const origin = await address.known();
    return origin === '' ? [] : linksIn(tokens, origin, run, event);
  };
