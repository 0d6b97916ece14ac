/** The record and the events of a call that was made. */
import { type AfterFailure, costOf, ModelFailure, type Usage } from '@gantry/ai';
import type { EffectOutcome, EmittedEvent } from '@gantry/engine';
import type { JsonObject } from '@gantry/protocol';
import type { Write } from '@gantry/store';
import type { Claimed } from './call-claims.ts';
import type { ChunkFeed } from './chunk-feed.ts';
import { type Amounts, NANO_USD } from './ledger.ts';
import type { Attempted, CallingNode, CallPlace, PlannedCall, RecordedCall } from './planned-call.ts';

export function recordOf(
  { method, fingerprint }: CallPlace,
  { provider, model, price, goesOn, units }: PlannedCall,
  rest: Pick<RecordedCall, 'usage' | 'durationMs'> & Partial<RecordedCall>,
): RecordedCall {
  const { inputTokens, outputTokens } = rest.usage;
  const made = rest.answer === undefined ? 0 : units;
  const spent = { tokens: inputTokens + outputTokens, cost: price ? costOf(price, rest.usage, made) : 0 };
  return { method, fingerprint, provider, model, spent, ...(goesOn && { goesOn }), ...rest };
}

/** `spent` where it does not follow from the usage. */
export type Cost = Pick<RecordedCall, 'usage'> & Partial<Pick<RecordedCall, 'spent'>>;

interface Cut {
  readonly isSent: boolean;
  /** Text, thoughts and arguments of tool calls. */
  readonly arrived: string;
}

const UNKNOWN: Partial<ModelFailure> = {};
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** Of a request that was cut off or failed. One that was refused by its status was not served. */
export function costOfFailure(
  error: Error,
  call: PlannedCall,
  { reserved, outputTokens }: Pick<Claimed, 'reserved' | 'outputTokens'>,
  { isSent, arrived }: Cut,
): Cost {
  const { kind, status, served } = error instanceof ModelFailure ? error : UNKNOWN;
  if (!isSent || kind === 'not-sent' || (status !== undefined && !served)) return { usage: NOTHING };
  if (arrived !== '') return { usage: call.usageOf(arrived) };
  return { usage: { inputTokens: call.inputTokens, outputTokens, estimated: true }, spent: reserved };
}

export function settlement(
  tenant: string,
  invocationId: string,
  call: RecordedCall,
  pending: readonly EmittedEvent[] = [],
): Write {
  const outcome: EffectOutcome = { ok: true, outputs: JSON.parse(JSON.stringify({ call })) };
  const write = { kind: 'settleInvocation', tenant, invocationId } as const;
  return pending.length === 0
    ? { ...write, outcome: JSON.stringify(outcome) }
    : { ...write, outcome: JSON.stringify({ ...outcome, pending }), eventsPending: true };
}

export function failureOf(
  { provider, model, credentialRef: ref, fails }: PlannedCall,
  failure: ModelFailure,
  { code, retriable, retryAfterMs }: Extract<AfterFailure, { readonly kind: 'failed' }>,
): NonNullable<RecordedCall['failure']> {
  const isKey = failure.kind === 'key-rejected' && ref !== undefined;
  const next = isKey
    ? ` Replace the value of the credential ${ref} with: gantry credentials rotate ${ref}`
    : '';
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return {
    code: fails?.(failure) ?? code,
    message: `${provider} (${model}): ${failure.message}${next}`,
    details: {
      provider,
      model,
      retriable,
      ...(failure.status !== undefined && { status: failure.status }),
      ...retry,
    },
  };
}

/** Events in the commit of the record: the rest of the text, the usage, and the remaining budget. */
export async function told(
  { nodeId, budget }: CallingNode,
  { total, reserved }: { readonly total: Amounts; readonly reserved: Amounts },
  { usage, finishReason }: Attempted,
  record: RecordedCall,
  feed: ChunkFeed | null,
): Promise<EmittedEvent[]> {
  const { provider, model, spent } = record;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const counts = { promptTokens: inputTokens, completionTokens: outputTokens, totalTokens: spent.tokens };
  const meta = { ...(finishReason !== undefined && { finishReason }), model, provider, usage: counts };
  const payload: JsonObject = {
    provider,
    model,
    inputTokens,
    outputTokens,
    totalTokens: spent.tokens,
    nodeId,
    ...(record.spent.cost > 0 && { costEstimateUsd: record.spent.cost / NANO_USD, currency: 'USD' }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens, cacheHit: cacheReadTokens > 0 }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
  const sum = {
    tokens: total.tokens - reserved.tokens + spent.tokens,
    cost: total.cost - reserved.cost + spent.cost,
  };
  return [
    ...(feed ? await feed.end(meta) : []),
    { type: 'provider.usage', payload },
    ...(budget?.consumed(sum) ?? []),
  ];
}
