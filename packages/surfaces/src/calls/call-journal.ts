/**
 * Calls of a node are recorded under tenant, run, node, series (the writes of one capability in one journal)
 * and ordinal. The attempt is not part of the key: a node that runs again gets the recorded answers, also for
 * reads before a write (seen-reads.ts). A replay makes no calls; a branch is another run.
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
  /** Of the input: a claim without a record is repeated only if it is equal. */
  readonly fingerprint: string;
  readonly idempotent: boolean;
  /** Set for tools: two events per call are in the log of the run. */
  readonly tool?: CalledTool;
}

type Place = Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId' | 'ordinal' | 'providerKey'>;

/** A call of a tool, as in events. */
export interface CalledTool extends Pick<ToolLiteral, 'name' | 'transport' | 'requiredScopes'> {
  /** Input for the hash of the arguments, with secrets redacted. */
  args(redact: Redact): Json;
  /** The same for people who approve the call: bytes that are text are shown as text. */
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

/** Decides whether a tool's answer counts in a later attempt of its node (`journaled-call.ts`). */
export type ToolRecord = {
  readonly attempt: number;
  /** A later call may get another answer. */
  readonly mayPass: boolean;
  /** The ordinal of the next call that is not safe. */
  readonly next: number;
  /** Decisions about credentials: payloads of `egress.decided`. */
  readonly decided?: JsonObject[];
};

/** The reads of one visit of a node are stored in batches, each before a write. */
export interface ReadsKey extends Pick<JournaledCall, 'tenant' | 'runId' | 'nodeId'> {
  readonly ordinalBase: number;
  readonly batch: number;
}

export type SeenRead = {
  readonly fingerprint: string;
  /** Null: too large to store, or not JSON. */
  readonly answer: CallAnswer | null;
};

/**
 * Records calls for backends that keep no journal. `perform` claims the call, acts, and records before it
 * answers. A recorded call is answered from its record. A claim without a record: acts again if `idempotent`
 * and the input is the same, else rejects with `effect_in_doubt`. When `act` rejects, the outcome is unknown
 * and nothing is recorded. So a backend whose methods are not idempotent must throw `effect_in_doubt` itself
 * when it does not know the outcome; its other failures mean that nothing happened.
 */
export interface CallJournal {
  /** `admit` is called before a tool acts; its refusal is recorded like one of the backend. */
  perform(
    call: JournaledCall,
    act: (admit?: () => Promise<void>) => Promise<CallRecord>,
  ): Promise<CallRecord>;
  /** The call was claimed, and perhaps recorded. */
  isKnown(call: Place): Promise<boolean>;
  recall(key: ReadsKey): Promise<readonly SeenRead[] | null>;
  /** Answers whether the key was unused. */
  keep(key: ReadsKey, reads: readonly SeenRead[]): Promise<boolean>;
  /** Called when a backend with its own journal recorded a new call. */
  recorded?(): void;
  /** Writes to the log of the run. */
  warn?(message: string): void;
}

/** Each try after a temporary failure is a separate call. */
export const TRIES_MAX = 1_000;

export const providerKeyOf = (series: string, tried: number): string =>
  tried === 0 ? series : `${series}\0${tried}`;

export function invocationId({ tenant, runId, nodeId, ordinal, providerKey }: Place): string {
  const parts = ['openwop:activity:v2', tenant, runId, nodeId, String(ordinal), providerKey];
  return hash('sha256', parts.join('\0'), 'base64url');
}

const ORDINAL_DIGITS = 8;

/** Run ids begin with their time. The last two parts contain no slash, so keys are unique. */
export const journalKeyOf = (
  { runId, nodeId, ordinal }: Pick<JournaledCall, 'runId' | 'nodeId' | 'ordinal'>,
  series: string,
): string => `${runId}/${nodeId}/${series}/${String(ordinal).padStart(ORDINAL_DIGITS, '0')}`;

type Recorded = Pick<CallRecord, 'method' | 'fingerprint'>;

/** The error when the recorded call at this position used another method. Names both methods, and no values. */
function mismatchText({ nodeId, ordinal, method }: NumberedCall, before: Recorded): string {
  const capability = method.slice(0, method.indexOf('.'));
  return (
    `Write ${ordinal} of node "${nodeId}" to ${capability} was ${before.method} when the node first ran, ` +
    `and is ${method} now. A node that runs again must make the same calls in the same order.`
  );
}

/** The warning for a repeated call with another input, such as times and random ids. */
const otherInputText = ({ nodeId, ordinal, method }: NumberedCall): string =>
  `Write ${ordinal} of node "${nodeId}" to ${method.slice(0, method.indexOf('.'))} has other input than when the ` +
  `node first ran: ${method} gave the recorded answer, and nothing was written again.`;

type Seen = 'same input' | 'other input';
const recalled = new WeakMap<NumberedCall, Seen>();

/** How an invocation matched its record; undefined when it acted. */
export const recallOf = (invocation: NumberedCall): Seen | undefined => recalled.get(invocation);

/**
 * Checks that a repeated call has the same capability, method and position. Its input may differ: nodes write
 * times and random ids. The recorded answer counts.
 */
export function assertSameCall(invocation: NumberedCall, before: Recorded): void {
  const isSame = before.fingerprint === invocation.fingerprint;
  recalled.set(invocation, isSame ? 'same input' : 'other input');
  if (before.method === invocation.method) return;
  throw new OpenwopError('idempotency_key_mismatch', { message: mismatchText(invocation, before) });
}

const answerKeys = new WeakMap<NumberedCall, AnswerKeys>();

/** A call whose backend keeps the record. `keys` opens sealed answers. */
export function numbered(call: Omit<NumberedCall, 'answerKey'>, keys?: AnswerKeys): NumberedCall {
  const answerKey = keys?.make(call);
  const invocation = answerKey ? { ...call, answerKey } : call;
  if (keys) answerKeys.set(invocation, keys);
  return invocation;
}

/** The recorded answer of a repeated call. */
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

/** By invocation, for methods with one write that is recorded in its transaction: whether it was made. */
const single = new WeakMap<NumberedCall, 'unwritten' | 'written'>();

export const expectOneWrite = (invocation: NumberedCall): unknown => single.set(invocation, 'unwritten');

/** Two writes of one call would share a record: the second would get the recorded answer of the first. */
export function noteWrite(invocation: NumberedCall): void {
  const state = single.get(invocation);
  if (state === 'written')
    throw new Error(`${invocation.method} makes a second write in one call; its literal allows one`);
  if (state) single.set(invocation, 'written');
}
