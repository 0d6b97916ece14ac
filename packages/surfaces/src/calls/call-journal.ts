/**
 * Calls of a node are recorded under tenant, run, node, series (the writes that one journal has of a capability) and
 * ordinal. The attempt is not part of it: a node that runs again gets the recorded answers, also of reads that came
 * before a write (seen-reads.ts). A replay calls nothing; a branch is another run.
 */
import { hash } from 'node:crypto';
import { type ErrorCode, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Invocation } from './surface-call.ts';

/** Layer 2 of the protocol's idempotency. */
export interface JournaledCall {
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinal: number;
  readonly providerKey: string;
  /** `blobStorage.put`, for messages. */
  readonly method: string;
  readonly idempotent: boolean;
}

export type CallAnswer =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly retriable: boolean;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: JsonObject };
    };

export type CallRecord = { readonly method: string; readonly fingerprint: string } & CallAnswer;

/** Reads of one visit of a node are kept in batches, each before a write. */
export interface ReadsPlace extends Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId'> {
  readonly ordinalBase: number;
  readonly batch: number;
}

export type SeenRead = {
  readonly fingerprint: string;
  /** None: too large to be kept, or not JSON. */
  readonly answer: CallAnswer | null;
};

/**
 * The host's memory of calls to backends that keep none. `perform` claims the call, acts, and records before it
 * answers; a call on record is answered from it. Claimed without a record: acts again if `idempotent`, else rejects
 * with `effect_in_doubt`. When `act` rejects, nothing is known and nothing is recorded. So a backend whose methods
 * are not idempotent says `effect_in_doubt` itself where it cannot tell; its other failures mean that nothing happened.
 */
export interface CallJournal {
  perform(call: JournaledCall, act: () => Promise<CallRecord>): Promise<CallRecord>;
  recall(place: ReadsPlace): Promise<readonly SeenRead[] | null>;
  /** Answers whether the place was free. */
  keep(place: ReadsPlace, reads: readonly SeenRead[]): Promise<boolean>;
  /** A backend with a journal of its own has recorded a call that was not on record before. */
  recorded?(): void;
}

/** Each try of a call that is known to have failed for the moment is a call of its own. */
export const TRIES_MAX = 1_000;

export const providerKeyOf = (series: string, tried: number): string =>
  tried === 0 ? series : `${series}\0${tried}`;

export function invocationId({
  tenant,
  runId,
  nodeId,
  ordinal,
  providerKey,
}: Omit<JournaledCall, 'method' | 'idempotent'>): string {
  const parts = ['openwop:activity:v2', tenant, runId, nodeId, String(ordinal), providerKey];
  return hash('sha256', parts.join('\0'), 'base64url');
}

const ORDINAL_DIGITS = 8;

/** Ids of runs begin with their time. The last two parts have no slash, so no two places are spelled alike. */
export const placeOf = (
  { runId, nodeId, ordinal }: Pick<JournaledCall, 'runId' | 'nodeId' | 'ordinal'>,
  series: string,
): string => `${runId}/${nodeId}/${series}/${String(ordinal).padStart(ORDINAL_DIGITS, '0')}`;

type Recorded = Pick<CallRecord, 'method' | 'fingerprint'>;

/** The text for a call in a place where another one is on record. Names both, and no values. */
function mismatchText({ nodeId, ordinal, method, fingerprint }: Invocation, before: Recorded): string {
  const capability = method.slice(0, method.indexOf('.'));
  const what = before.method === method ? `${method} with other input` : `${before.method}`;
  return (
    `Write ${ordinal} of node "${nodeId}" to ${capability} was ${what} when the node first ran (${before.fingerprint.slice(0, 8)}), ` +
    `and is ${method} now (${fingerprint.slice(0, 8)}). A node that runs again must write the same in the same ` +
    'order; take times, random numbers and ids from its inputs, and bytes or very large answers that it writes on ' +
    'from a node before it.'
  );
}

const recalled = new WeakSet<Invocation>();

export const isRecalled = (invocation: Invocation): boolean => recalled.has(invocation);

export function assertSameCall(invocation: Invocation, before: Recorded): void {
  recalled.add(invocation);
  if (before.method === invocation.method && before.fingerprint === invocation.fingerprint) return;
  throw new OpenwopError('idempotency_key_mismatch', { message: mismatchText(invocation, before) });
}
