/**
 * On whose behalf a change is made, and where its answer is recorded: a repeat of the same call gets that answer, and
 * has no effect of its own. The record is written in the commit of the change.
 */
import { type ErrorCode, type ErrorEnvelope, errorEnvelope, OpenwopError } from '@gantry/protocol';
import type { IdempotencyRecord, InvocationRecord, RecordReads, Write } from '@gantry/store';

interface Acting {
  readonly tenant: string;
  readonly workspace?: string | null;
  /** For the feed: the key of a person, the run of a node, the part of the host. */
  readonly actor: string;
}

export type Caller =
  /** A request, with the record of its `Idempotency-Key` if it has one. */
  | (Acting & { readonly kind: 'person'; readonly request?: Omit<IdempotencyRecord, 'status' | 'body'> })
  /** A call of a node; `epoch` is the lease of the process that works on its run. */
  | (Acting & {
      readonly kind: 'node';
      readonly call: Pick<InvocationRecord, 'invocationId' | 'runId' | 'nodeId'>;
      readonly epoch: number;
    })
  /** A clock or a reader of the feed: nothing is recorded. */
  | (Acting & { readonly kind: 'system' });

/** What a change came to. */
export type Outcome = { readonly answer: unknown } | { readonly refusal: OpenwopError };

const OK = 200;

/** The write that records the outcome; null when there is nothing to record it for. */
export function recordOf(caller: Caller, outcome: Outcome, now: number): Write | null {
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
  const settled = JSON.stringify(refusal ? { refusal } : { answer });
  const record = { ...caller.call, tenant: caller.tenant, outcome: settled, claimedAt: now, claimId: null };
  return { kind: 'claimInvocation', record };
}

/** What was recorded for an earlier call with the same record. */
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
  const settled: { answer: unknown } | { refusal: ErrorEnvelope } = JSON.parse(found.outcome);
  return 'refusal' in settled ? { refusal: refusalOf(settled.refusal) } : settled;
}

function refusalOf({ error, message, details }: ErrorEnvelope): OpenwopError {
  return new OpenwopError(error as ErrorCode, {
    message,
    details: JSON.parse(JSON.stringify(details ?? {})),
  });
}
