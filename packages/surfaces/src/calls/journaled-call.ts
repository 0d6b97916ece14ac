/**
 * Calls to backends without a journal: the host claims and records them.
 *
 * I1  Within one attempt of a node a recorded call is answered from its record.
 * I2  In a later attempt an answer that may have been temporary counts only if a call that is not safe
 *     followed it: that call may depend on it. Else the call is made again, with a new id.
 */
import { ERRORS, type JsonObject, OpenwopError } from '@gantry/protocol';
import { ServerError } from '../backend-errors.ts';
import {
  assertSameCall,
  type CallAnswer,
  type CallJournal,
  type CallRecord,
  providerKeyOf,
  TRIES_MAX,
  warnOfOtherInput,
} from './call-journal.ts';
import { type DataObject, isJson, isObject, type Redact, shownOf, toldOf } from './data.ts';
import type { ToolLiteral } from './define-surface.ts';
import type { NumberedCall, WriteCall } from './surface-call.ts';

export interface ToolCall {
  readonly literal: ToolLiteral;
  readonly isSafe: boolean;
  readonly attempt: number;
  /** The series of calls that are not safe, and the ordinal of the next one. */
  readonly unsafe: string;
  readonly next: number;
}

export interface HostCall {
  readonly series: string;
  readonly input: DataObject;
  readonly idempotent: boolean;
  readonly tool?: ToolCall;
  invocationOf(tried: number): NumberedCall;
  act(invocation: NumberedCall, decided?: WriteCall['decided']): unknown;
}

export async function journaled(journal: CallJournal, call: HostCall): Promise<unknown> {
  const { series, input, idempotent, tool } = call;
  const args = (redact: Redact) => toldOf(input, redact);
  const shown = (redact: Redact) => shownOf(input, redact);
  const called = tool && { tool: { ...tool.literal, args, shown } };
  for (let tried = 0; ; tried++) {
    const invocation = call.invocationOf(tried);
    // Names the server and the cause, which records omit
    let failure = null as OpenwopError | null;
    const { tenant, runId, nodeId, ordinal, method } = invocation;
    const place = { tenant, runId, nodeId, ordinal };
    // A call that changes nothing may be repeated with any input
    const fingerprint = tool?.isSafe ? '' : invocation.fingerprint;
    const claimed = { ...place, providerKey: providerKeyOf(series, tried), method, fingerprint, idempotent };
    const record = await journal.perform({ ...claimed, ...called }, (admit) =>
      recordOf(call, invocation, admit, (error) => {
        failure = error;
      }),
    );
    const isLast = tried + 1 === TRIES_MAX;
    if (!isLast && (await isOver(journal, call, record, { ...place, tried }))) continue;
    assertSameCall(invocation, record);
    warnOfOtherInput(journal, invocation);
    if (record.ok) return raised(record);
    if (failure) throw failure;
    if (record.tool || !record.retriable || isLast) {
      const { code, ...rest } = record.error;
      throw new OpenwopError(code, rest);
    }
  }
}

/** See I2. Of several tries, later calls depend on the last one. */
async function isOver(
  journal: CallJournal,
  { series, tool }: HostCall,
  record: CallRecord,
  { tried, ...place }: Pick<NumberedCall, 'tenant' | 'runId' | 'nodeId' | 'ordinal'> & { tried: number },
): Promise<boolean> {
  if (!tool || !record.tool || record.tool.attempt === tool.attempt || !record.tool.mayPass) return false;
  if (await journal.isKnown({ ...place, providerKey: providerKeyOf(series, tried + 1) })) return true;
  const { next: ordinal } = record.tool;
  return !(await journal.isKnown({ ...place, ordinal, providerKey: providerKeyOf(tool.unsafe, 0) }));
}

/**
 * Records expected failures like answers, except temporary ones of idempotent methods: those are repeated.
 * Every call of a tool is recorded.
 */
async function recordOf(
  call: HostCall,
  invocation: NumberedCall,
  admit: (() => Promise<void>) | undefined,
  onFailure: (failure: OpenwopError) => void,
): Promise<CallRecord> {
  const { method, fingerprint } = invocation;
  const decided: JsonObject[] = [];
  const act: HostCall['act'] = (at) => call.act(at, (decision) => void decided.push({ ...decision }));
  const answer = await answerOf({ ...call, act }, invocation, admit, onFailure);
  const { tool } = call;
  if (!tool) return { method, fingerprint, ...answer };
  const { attempt, next, isSafe, literal } = tool;
  const mayPass = isSafe || literal.mayPass(answer);
  const record = { attempt, next, mayPass, ...(decided.length > 0 && { decided }) };
  return { method, fingerprint, tool: record, ...answer };
}

async function answerOf(
  { act, idempotent, tool }: HostCall,
  invocation: NumberedCall,
  admit: (() => Promise<void>) | undefined,
  onFailure: (failure: OpenwopError) => void,
): Promise<CallAnswer> {
  try {
    await admit?.();
    return lowered(invocation.method, (await act(invocation)) ?? null);
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    const { code, message, details } = forPack(error);
    const { retriable } = ERRORS[code];
    if (retriable && idempotent && !tool) throw error;
    onFailure(error);
    return { ok: false, retriable, error: { code, message, ...(details && { details }) } };
  }
}

/** Bytes are direct members of the answer, if it has any. */
function lowered(method: string, value: unknown): CallAnswer {
  if (isJson(value)) return { ok: true, value };
  const members = isObject(value) ? Object.entries(value) : [];
  const parts = Object.groupBy(members, ([, member]) => (member instanceof Uint8Array ? 'bytes' : 'rest'));
  const rest = Object.fromEntries(parts.rest ?? []);
  if (!parts.bytes || !isJson(rest)) throw new Error(`${method} answered what the journal cannot keep`);
  const texts = parts.bytes.map(([name, bytes]) => [
    name,
    Buffer.from(bytes as Uint8Array).toString('base64'),
  ]);
  return { ok: true, value: rest, bytes: Object.fromEntries(texts) };
}

function raised({ value, bytes }: Extract<CallAnswer, { ok: true }>): unknown {
  if (!bytes || !isObject(value)) return value;
  const parts = Object.entries(bytes).map(([name, text]) => [name, Buffer.from(text, 'base64')]);
  return { ...value, ...Object.fromEntries(parts) };
}

export const forPack = (error: OpenwopError): OpenwopError =>
  error instanceof ServerError ? error.forPack() : error;
