/**
 * Layer 2 of idempotency: every effect that leaves a node is claimed before it happens and recorded
 * before its result is used, so a node that runs again reads the record instead of acting twice.
 */
import { hash } from 'node:crypto';
import type { EffectOutcome, EmittedEvent, Outcome } from '@gantry/engine';
import { randomBytes } from '@gantry/http';
import { newId } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import {
  type CommitGroup,
  type CommitPipeline,
  type CommitResult,
  type InvocationRecord,
  type Store,
  StoreError,
  type Write,
} from '@gantry/store';
import type { Entropy } from './clock.ts';

export interface Effect {
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  /** Fixed per logical effect of the node, never the attempt. */
  readonly ordinal: number;
  readonly providerKey: string;
  /** The receiver ignores a second call with the same id, so an effect of unknown outcome may be repeated. */
  readonly idempotent: boolean;
  /** Of its input: a repeat with other input would be another effect. */
  readonly fingerprint?: string;
  /** Of an effect that costs: the amounts reserved with its claim, as one word. */
  readonly reserves?: string;
}

/** Events of the run in the commits of an effect. While the run accepts none, they are kept in the record. */
export interface EffectEvents {
  readonly tell: NodeCaller['tell'];
  /** In the commit of the claim. */
  readonly called?: EmittedEvent;
  /** In the commit of the record. */
  returned(outcome: Outcome): readonly EmittedEvent[];
}

/** Further writes in the commits of an effect: its use of a limit or a budget. */
export interface EffectCosts {
  readonly claim: CommitGroup;
  /** One of them lost. The effect is then claimed without them, so `act` has to refuse it. */
  lost(claim: LostClaim): Promise<void>;
  /** In the commit of the record, if this process made the claim. They cannot lose. */
  settle(outcome: Outcome): CommitGroup;
}

/** Events and writes that are committed together with an effect. */
export interface Beside {
  readonly events?: EffectEvents | undefined;
  readonly costs?: EffectCosts | undefined;
}

/** Whether the caller has to perform the effect. */
export type Claim<Result> =
  | {
      readonly kind: 'claimed';
      readonly invocationId: string;
      /** Of the counters that the further writes adjust; absent if the answer of the commit was lost. */
      readonly values?: readonly number[];
    }
  /** Claimed before, and its outcome is unknown. */
  | { readonly kind: 'underWay'; readonly invocationId: string; readonly isSameInput: boolean }
  | {
      readonly kind: 'settled';
      readonly invocationId: string;
      readonly outcome: Result;
      /** Events that are not in the log of the run yet. */
      readonly pending?: readonly EmittedEvent[];
    };

/** Not claimed: one of the further writes lost, such as an `adjust` at its maximum. `write` is its index among them. */
export interface LostClaim extends Extract<CommitResult, { won: false }> {
  readonly kind: 'lost';
}

type Unrecorded =
  /** The outcome of the claim's commit is unknown; the effect was not performed. */
  | { readonly kind: 'not-acted'; readonly claimId: string }
  /** The effect was performed, but its outcome could not be recorded. */
  | { readonly kind: 'acted'; readonly outcome: Outcome };

const claimIdOf = (id: string, { fingerprint = '', reserves }: Omit<Effect, 'idempotent'>): string =>
  reserves === undefined ? `${id} ${fingerprint}` : `${id} ${fingerprint} ${reserves}`;

/** The amounts reserved with a claim. */
export const reservedBy = ({ claimId }: Pick<InvocationRecord, 'claimId'>): string | undefined =>
  claimId?.split(' ')[2];

export function logicalInvocationId(effect: Omit<Effect, 'idempotent'>): string {
  const parts = [
    'openwop:activity:v2',
    effect.tenant,
    effect.runId,
    effect.nodeId,
    String(effect.ordinal),
    effect.providerKey,
  ];
  return hash('sha256', parts.join('\0'), 'base64url');
}

export class InvocationLog {
  readonly #pipeline: CommitPipeline;
  readonly #records: Pick<Store['records'], 'invocation'>;
  readonly #now: () => number;
  readonly #entropy: Entropy;
  /** Effects in progress: a repeated call waits for the first. */
  readonly #underWay = new Map<string, Promise<Outcome>>();
  /** State of claims that this process knows and the record may not show. */
  readonly #unrecorded = new Map<string, Unrecorded>();

  constructor(
    pipeline: CommitPipeline,
    records: Pick<Store['records'], 'invocation'>,
    now: () => number,
    entropy: Entropy = randomBytes,
  ) {
    this.#pipeline = pipeline;
    this.#records = records;
    this.#now = now;
    this.#entropy = entropy;
  }

  /** Performs the effect unless it is recorded; returns its recorded outcome. */
  async perform<Result extends Outcome>(
    effect: Effect,
    act: (invocationId: string) => Promise<Result>,
    beside: Beside = {},
  ): Promise<Result | EffectOutcome> {
    const invocationId = logicalInvocationId(effect);
    const underWay = this.#underWay.get(invocationId);
    if (underWay) return underWay as Promise<Result>;
    const outcome = this.#claimAndAct(effect, act, beside).finally(() => this.#underWay.delete(invocationId));
    this.#underWay.set(invocationId, outcome);
    return outcome;
  }

  /** For effects that are performed elsewhere and settled later. Further writes are in the commit of the claim. */
  claim<Result extends Outcome = EffectOutcome>(effect: Omit<Effect, 'idempotent'>): Promise<Claim<Result>>;
  claim<Result extends Outcome = EffectOutcome>(
    effect: Omit<Effect, 'idempotent'>,
    writes: CommitGroup,
    commit?: Commit,
  ): Promise<Claim<Result> | LostClaim>;
  async claim<Result extends Outcome = EffectOutcome>(
    effect: Omit<Effect, 'idempotent'>,
    writes: CommitGroup = [],
    commit: Commit = (group) => this.#pipeline.commit(group),
  ): Promise<Claim<Result> | LostClaim> {
    const { tenant, runId, nodeId } = effect;
    const invocationId = logicalInvocationId(effect);
    const unrecorded = this.#unrecorded.get(invocationId);
    const claimId =
      unrecorded?.kind === 'not-acted'
        ? unrecorded.claimId
        : claimIdOf(newId('claim', this.#now(), this.#entropy), effect);
    const claimed = { outcome: null, claimedAt: this.#now(), claimId, eventsPending: false };
    const record = { invocationId, tenant, runId, nodeId, ...claimed };
    const result = await this.#commitClaim(record, writes, commit);
    if (!result.won && result.write > 0) return { ...result, kind: 'lost', write: result.write - 1 };
    const earlier = result.won ? null : await this.#records.invocation(tenant, invocationId);
    if (unrecorded?.kind === 'not-acted') this.#unrecorded.delete(invocationId);
    if (result.won) return { kind: 'claimed', invocationId, ...(result.values && { values: result.values }) };
    if (earlier?.outcome === null && earlier.claimId === claimId) return { kind: 'claimed', invocationId };
    if (earlier?.outcome == null) {
      const isSameInput = earlier?.claimId?.split(' ')[1] === (effect.fingerprint ?? '');
      return { kind: 'underWay', invocationId, isSameInput };
    }
    const { pending, ...outcome } = JSON.parse(earlier.outcome);
    return { kind: 'settled', invocationId, outcome, ...(earlier.eventsPending && { pending }) };
  }

  /** Records an outcome that is known already. Returns whether there was no record before. */
  async put<Result extends Outcome>(effect: Omit<Effect, 'idempotent'>, outcome: Result): Promise<boolean> {
    const { tenant, runId, nodeId } = effect;
    const invocationId = logicalInvocationId(effect);
    const settled = { outcome: JSON.stringify(outcome), claimedAt: this.#now(), claimId: null };
    const record = { invocationId, tenant, runId, nodeId, ...settled, eventsPending: false };
    const { won } = await this.#pipeline.commit([{ kind: 'claimInvocation', record }]);
    return won;
  }

  async outcomeOf<Result extends Outcome>(effect: Omit<Effect, 'idempotent'>): Promise<Result | null> {
    const record = await this.#recordOf(effect);
    if (record?.outcome == null) return null;
    const { pending: _, ...outcome } = JSON.parse(record.outcome);
    return outcome;
  }

  /** Whether the effect was claimed. */
  async isKnown(effect: Omit<Effect, 'idempotent'>): Promise<boolean> {
    return (await this.#recordOf(effect)) !== null;
  }

  /** Whether the effect was claimed and has no recorded outcome. */
  async isOpen(effect: Omit<Effect, 'idempotent'>): Promise<boolean> {
    return (await this.#recordOf(effect))?.outcome === null;
  }

  #recordOf(effect: Omit<Effect, 'idempotent'>): Promise<InvocationRecord | null> {
    return this.#records.invocation(effect.tenant, logicalInvocationId(effect));
  }

  /** Further writes are in the commit of the outcome. */
  settle(
    tenant: string,
    invocationId: string,
    outcome: Outcome,
    writes: CommitGroup = [],
  ): Promise<CommitResult> {
    return this.#pipeline.commit([settlement(tenant, invocationId, outcome), ...writes]);
  }

  async #record(
    tenant: string,
    invocationId: string,
    outcome: Outcome,
    { events, costs }: Beside,
  ): Promise<void> {
    // The claim may have been made while the run accepted no events; an event in the log is not emitted again
    const emitted = events && [...calledOf(events), ...events.returned(outcome)];
    const settled = costs?.settle(outcome) ?? [];
    const isLogged =
      emitted &&
      (await events.tell(emitted, [settlement(tenant, invocationId, outcome), ...settled])) !== null;
    if (!isLogged)
      await this.#pipeline.commit([settlement(tenant, invocationId, outcome, emitted), ...settled]);
  }

  /** A claim of unknown outcome is not acted on, so the next try may use it as a new claim. */
  async #commitClaim(
    record: InvocationRecord & { readonly claimId: string },
    writes: CommitGroup,
    commit: Commit,
  ): Promise<CommitResult> {
    const { invocationId, claimId } = record;
    try {
      return await commit([{ kind: 'claimInvocation', record }, ...writes]);
    } catch (error) {
      if (error instanceof StoreError && error.outcome === 'unknown')
        this.#unrecorded.set(invocationId, { kind: 'not-acted', claimId });
      throw error;
    }
  }

  async #claimAndAct<Result extends Outcome>(
    effect: Effect,
    act: (invocationId: string) => Promise<Result>,
    beside: Beside,
  ): Promise<Result | EffectOutcome> {
    const { tenant, idempotent } = effect;
    const { events } = beside;
    const { claim, costs } = await this.#claimWith<Result>(effect, beside);
    const { invocationId } = claim;
    if (claim.kind === 'settled') {
      const { outcome, pending } = claim;
      // Before the outcome is used. Lost: another process has emitted it; refused: the next repeat emits it
      if (pending) await events?.tell(pending, [{ kind: 'tellInvocation', tenant, invocationId }]);
      return outcome;
    }
    const unrecorded = this.#unrecorded.get(invocationId);
    const isKnown = unrecorded?.kind === 'acted';
    if (claim.kind === 'underWay' && !isKnown && !(idempotent && claim.isSameInput)) {
      const doubt = inDoubt(effect);
      if (events) await this.#record(tenant, invocationId, doubt, { events });
      return doubt;
    }
    const outcome = isKnown ? (unrecorded.outcome as Result) : await act(invocationId);
    this.#unrecorded.set(invocationId, { kind: 'acted', outcome });
    await this.#record(tenant, invocationId, outcome, { events, costs });
    this.#unrecorded.delete(invocationId);
    return outcome;
  }

  /** Claims without the costs if one of them lost. Returns the costs that were committed. */
  async #claimWith<Result extends Outcome>(
    effect: Effect,
    { events, costs }: Beside,
  ): Promise<Pick<Beside, 'costs'> & { readonly claim: Claim<Result> }> {
    const claim = await this.claim<Result>(
      effect,
      costs?.claim ?? [],
      async (group) =>
        (events?.called && (await events.tell([events.called], group))) ?? this.#pipeline.commit(group),
    );
    if (claim.kind !== 'lost') return { claim, costs: claim.kind === 'claimed' ? costs : undefined };
    if (!costs) throw new Error('A claim without further writes lost one of them');
    await costs.lost(claim);
    return this.#claimWith(effect, { events });
  }
}

const calledOf = ({ called }: EffectEvents): EmittedEvent[] => (called ? [called] : []);

export type Commit = (group: CommitGroup) => Promise<CommitResult>;

function settlement(
  tenant: string,
  invocationId: string,
  outcome: Outcome,
  pending?: readonly EmittedEvent[],
): Write {
  const text = JSON.stringify(pending ? { ...outcome, pending } : outcome);
  const write = { kind: 'settleInvocation', tenant, invocationId, outcome: text } as const;
  return pending ? { ...write, eventsPending: true } : write;
}

/** Claimed, but without a recorded result: the process died in between, and a repeat might act twice. */
export function inDoubt(effect: Omit<Effect, 'idempotent'>): EffectOutcome {
  return {
    ok: false,
    retryable: false,
    error: {
      code: 'effect_in_doubt',
      message:
        `The host stopped between starting an effect of node "${effect.nodeId}" and recording its result, ` +
        'and the effect is not declared idempotent. Check whether it happened, then run the workflow again ' +
        'or declare the effect idempotent.',
      details: { ordinal: effect.ordinal },
    },
  };
}
