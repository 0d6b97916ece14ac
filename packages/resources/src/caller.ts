/**
 * The caller of a change, and the record of its answer: a repeat of the same call gets that answer, and has
 * no effect. The record is written in the commit of the change.
 */
import {
  type EmittedEvent,
  type ErrorCode,
  type ErrorEnvelope,
  errorEnvelope,
  OpenwopError,
  type Owner,
  ownerOf,
} from '@gantry/protocol';
import type { CommitResult, IdempotencyRecord, InvocationRecord, RecordReads, Write } from '@gantry/store';

interface Acting extends Owner {
  /** For the feed: the principal of a person, the run of a node, or a part of the host. */
  readonly actor: string;
}

export type Caller =
  /** A request, with the record of its `Idempotency-Key` if it has one. */
  | (Acting & { readonly kind: 'person'; readonly request?: Omit<IdempotencyRecord, 'status' | 'body'> })
  | NodeCaller
  /** A clock or a reader of the feed: nothing is recorded. */
  | (Acting & { readonly kind: 'system' });

/** A call of a node. */
export type NodeCaller = Acting & {
  readonly kind: 'node';
  readonly call: Pick<InvocationRecord, 'invocationId' | 'runId' | 'nodeId'>;
  /** The lease of the process that executes its run. */
  readonly epoch: number;
  /** Commits `writes` with events of the run. Returns null, and writes nothing, while the run does not accept them. */
  readonly tell: (events: readonly EmittedEvent[], writes: readonly Write[]) => Promise<CommitResult | null>;
};

type Owning = Parameters<typeof ownerOf>[0];

/** Whoever sends a request. */
export const personCaller = (
  of: Owning & { readonly principal: string },
  request?: Extract<Caller, { kind: 'person' }>['request'],
): Extract<Caller, { kind: 'person' }> => ({
  kind: 'person',
  ...ownerOf(of),
  actor: of.principal,
  ...(request && { request }),
});

/**
 * A part of the host, for the owner of the record that it works on. It sees every workspace of its tenant, and creates
 * records in that of the owner.
 */
export const systemCaller = (actor: string, of: Owning): Extract<Caller, { kind: 'system' }> => ({
  kind: 'system',
  ...ownerOf(of),
  actor,
});

/** The result of a change. */
export type Outcome = { readonly answer: unknown } | { readonly refusal: OpenwopError };

const OK = 200;

/**
 * The write that records the outcome; null if the caller has no record. `pending` are events that are not in
 * the log of the run yet.
 */
export function recordOf(
  caller: Caller,
  outcome: Outcome,
  now: number,
  pending: readonly EmittedEvent[] = [],
): Write | null {
  if (caller.kind === 'system' || (caller.kind === 'person' && !caller.request)) return null;
  const refusal = 'refusal' in outcome ? errorEnvelope(outcome.refusal) : null;
  const answer = 'refusal' in outcome ? null : (outcome.answer ?? null);
  if (caller.kind === 'person') {
    const status = 'refusal' in outcome ? outcome.refusal.status : OK;
    return {
      kind: 'idempotency',
      record: { ...caller.request!, status, body: JSON.stringify(refusal ?? answer) },
      now,
    };
  }
  const eventsPending = pending.length > 0;
  const settled: Settled = refusal ? { refusal } : { answer, ...(eventsPending && { pending }) };
  const { tenant, call } = caller;
  const times = { claimedAt: now, claimId: null, eventsPending };
  return { kind: 'claimInvocation', record: { ...call, tenant, outcome: JSON.stringify(settled), ...times } };
}

type Settled =
  | { readonly refusal: ErrorEnvelope }
  | { readonly answer: unknown; readonly pending?: readonly EmittedEvent[] };

/** The recorded outcome of an earlier call with the same record. */
export async function recordedOutcome(
  caller: Caller,
  records: RecordReads,
  now: number,
): Promise<Outcome | null> {
  if (caller.kind === 'person' && caller.request) {
    const { tenant, operation, key, digest } = caller.request;
    const found = await records.idempotency(tenant, operation, key);
    if (!found || found.expiresAt <= now) return null;
    if (found.digest !== digest) throw new OpenwopError('idempotency_key_mismatch');
    const body = JSON.parse(found.body);
    return found.status < 400 ? { answer: body } : { refusal: refusalOf(body) };
  }
  if (caller.kind !== 'node') return null;
  const found = await records.invocation(caller.tenant, caller.call.invocationId);
  if (found?.outcome == null) return null;
  const settled: Settled = JSON.parse(found.outcome);
  if ('refusal' in settled) return { refusal: refusalOf(settled.refusal) };
  // Write the events before the answer is used. If this loses, another process wrote them; if the run does
  // not accept them, the next repeat does
  if (found.eventsPending) {
    const { tenant, invocationId } = found;
    await caller.tell(settled.pending ?? [], [{ kind: 'tellInvocation', tenant, invocationId }]);
  }
  return { answer: settled.answer };
}

function refusalOf({ error, message, details }: ErrorEnvelope): OpenwopError {
  return new OpenwopError(error as ErrorCode, {
    message,
    details: JSON.parse(JSON.stringify(details ?? {})),
  });
}
