/**
 * Calls of a node are recorded under tenant, run, node, series (the writes that one journal has of a capability) and
 * ordinal. The attempt is not part of it: a node that runs again gets the recorded answers, also of reads that came
 * before a write (seen-reads.ts). A replay calls nothing; a branch is another run.
 */
import { hash } from 'node:crypto';
import { type ErrorCode, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Redact } from './data.ts';
import type { ToolLiteral } from './define-surface.ts';
import { type AnswerKeys, answerOnRecord } from './sealed-answer.ts';
import type { NumberedCall } from './surface-call.ts';

/** Layer 2 of the protocol's idempotency. */
export interface JournaledCall {
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly ordinal: number;
  readonly providerKey: string;
  /** `blobStorage.put`, for messages. */
  readonly method: string;
  /** Of its input: a claim without a record is repeated only with the same. */
  readonly fingerprint: string;
  readonly idempotent: boolean;
  /** Its pair of events is in the log of the run. */
  readonly tool?: CalledTool;
}

type Place = Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId' | 'ordinal' | 'providerKey'>;

/** A call of a tool, as events tell of it. */
export interface CalledTool extends Pick<ToolLiteral, 'name' | 'transport' | 'requiredScopes'> {
  /** For the hash of the arguments, once secrets are redacted. */
  args(redact: Redact): Json;
  /** The same for people who approve the call: bytes that are text as text. */
  shown(redact: Redact): Json;
}

export type CallAnswer =
  | {
      readonly ok: true;
      readonly value: Json;
      /** Members of the value that are bytes, as base64. */
      readonly bytes?: { readonly [member: string]: string };
    }
  | {
      readonly ok: false;
      readonly retriable: boolean;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: JsonObject };
    };

export type CallRecord = {
  readonly method: string;
  readonly fingerprint: string;
  readonly tool?: ToolRecord;
} & CallAnswer;

/** When an answer of a tool counts in a later attempt of its node (`journaled-call.ts`). */
export type ToolRecord = {
  readonly attempt: number;
  /** It may be another next time. */
  readonly mayPass: boolean;
  /** The ordinal of the first call behind it that is not safe. */
  readonly next: number;
  /** What was decided about a credential: payloads of `egress.decided`. */
  readonly decided?: JsonObject[];
};

/** Reads of one visit of a node are kept in batches, each before a write. */
export interface ReadsKey extends Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId'> {
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
 * answers; a call on record is answered from it. Claimed without a record: acts again if `idempotent` and its input is
 * the same, else rejects with `effect_in_doubt`. When `act` rejects, nothing is known and nothing is recorded. So a backend whose methods
 * are not idempotent says `effect_in_doubt` itself where it cannot tell; its other failures mean that nothing happened.
 */
export interface CallJournal {
  /** `admit` is called before the act of a tool; its refusal is recorded like one of the backend. */
  perform(
    call: JournaledCall,
    act: (admit?: () => Promise<void>) => Promise<CallRecord>,
  ): Promise<CallRecord>;
  /** Claimed, at least. */
  isKnown(call: Place): Promise<boolean>;
  recall(key: ReadsKey): Promise<readonly SeenRead[] | null>;
  /** Answers whether the key was free. */
  keep(key: ReadsKey, reads: readonly SeenRead[]): Promise<boolean>;
  /** A backend with a journal of its own has recorded a call that was not on record before. */
  recorded?(): void;
  /** For the log of the run. */
  warn?(message: string): void;
}

/** Each try of a call that is known to have failed for the moment is a call of its own. */
export const TRIES_MAX = 1_000;

export const providerKeyOf = (series: string, tried: number): string =>
  tried === 0 ? series : `${series}\0${tried}`;

export function invocationId({ tenant, runId, nodeId, ordinal, providerKey }: Place): string {
  const parts = ['openwop:activity:v2', tenant, runId, nodeId, String(ordinal), providerKey];
  return hash('sha256', parts.join('\0'), 'base64url');
}

const ORDINAL_DIGITS = 8;

/** Ids of runs begin with their time. The last two parts have no slash, so no two keys are spelled alike. */
export const journalKeyOf = (
  { runId, nodeId, ordinal }: Pick<JournaledCall, 'runId' | 'nodeId' | 'ordinal'>,
  series: string,
): string => `${runId}/${nodeId}/${series}/${String(ordinal).padStart(ORDINAL_DIGITS, '0')}`;

type Recorded = Pick<CallRecord, 'method' | 'fingerprint'>;

/** The text for a call at a position where one of another method is on record. Names both, and no values. */
function mismatchText({ nodeId, ordinal, method }: NumberedCall, before: Recorded): string {
  const capability = method.slice(0, method.indexOf('.'));
  return (
    `Write ${ordinal} of node "${nodeId}" to ${capability} was ${before.method} when the node first ran, ` +
    `and is ${method} now. A node that runs again must make the same calls in the same order.`
  );
}

/** For a repeated call whose input is another, as times and random ids make it. */
const otherInputText = ({ nodeId, ordinal, method }: NumberedCall): string =>
  `Write ${ordinal} of node "${nodeId}" to ${method.slice(0, method.indexOf('.'))} has other input than when the ` +
  `node first ran: ${method} gave the recorded answer, and nothing was written again.`;

type Seen = 'same input' | 'other input';
const recalled = new WeakMap<NumberedCall, Seen>();

/** How an invocation met its record; undefined when it acted. */
export const recallOf = (invocation: NumberedCall): Seen | undefined => recalled.get(invocation);

/**
 * Holds a repeated call to its capability, method and position. Its input may be another: nodes write times and random
 * ids, and the recorded answer is what counts.
 */
export function assertSameCall(invocation: NumberedCall, before: Recorded): void {
  const isSame = before.fingerprint === invocation.fingerprint;
  recalled.set(invocation, isSame ? 'same input' : 'other input');
  if (before.method === invocation.method) return;
  throw new OpenwopError('idempotency_key_mismatch', { message: mismatchText(invocation, before) });
}

const answerKeys = new WeakMap<NumberedCall, AnswerKeys>();

/** A call whose backend keeps the record. `keys` opens what is sealed. */
export function numbered(call: Omit<NumberedCall, 'answerKey'>, keys?: AnswerKeys): NumberedCall {
  const answerKey = keys?.make(call);
  const invocation = answerKey ? { ...call, answerKey } : call;
  if (keys) answerKeys.set(invocation, keys);
  return invocation;
}

/** What the record of a repeated call answers. */
export function recordedAnswer(
  invocation: NumberedCall,
  before: Recorded & { readonly answer: string },
): unknown {
  assertSameCall(invocation, before);
  return answerOnRecord(before.answer, (sealed) => {
    const keys = answerKeys.get(invocation);
    if (!keys) throw new Error(`The record at ${invocation.journalKey} is sealed`);
    return keys.open(invocation, sealed);
  });
}

export function warnOfOtherInput(journal: CallJournal, invocation: NumberedCall): void {
  if (recallOf(invocation) === 'other input') journal.warn?.(otherInputText(invocation));
}

/** Invocations of methods that have one write, which is recorded in its transaction: whether they have made it. */
const single = new WeakMap<NumberedCall, 'unwritten' | 'written'>();

export const expectOneWrite = (invocation: NumberedCall): unknown => single.set(invocation, 'unwritten');

/** Two writes of one call would share a record, and the second be answered from that of the first. */
export function noteWrite(invocation: NumberedCall): void {
  const state = single.get(invocation);
  if (state === 'written')
    throw new Error(`${invocation.method} makes a second write in one call; its literal allows one`);
  if (state) single.set(invocation, 'written');
}
