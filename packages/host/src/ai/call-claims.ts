/** Claims of calls: the maximum cost is reserved in the same commit, or the call is not made. */
import { costAtMost, OUTPUT_TOKENS_MIN, outputThatFits } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import { leaseLost, leaseOf } from '@gantry/resources';
import type { CommitPipeline, Store, Write } from '@gantry/store';
import { InvocationLog, logicalInvocationId } from '../runtime/invocation-log.ts';
import { chunkEvent } from './chunk-feed.ts';
import {
  type Account,
  type Amounts,
  adjusting,
  type Ceilings,
  fullCounter,
  Ledger,
  runTotals,
  wordOf,
} from './ledger.ts';
import { BudgetExhausted, type CallingNode, type CallPlace, type PlannedCall } from './planned-call.ts';

const LOWERED_MAX = 3;

/** The claim and its reservation, before anything is sent. */
export interface Claimed {
  readonly invocationId: string;
  readonly tried: number;
  readonly account: Account;
  readonly reserved: Amounts;
  readonly outputTokens: number;
  /** Of the family, with this reservation. */
  readonly total: Amounts;
  /** Events that the run did not accept with the claim because it was paused: committed with the record. */
  readonly untold: readonly EmittedEvent[];
}

export interface CallClaimsOptions {
  readonly store: Pick<Store, 'records' | 'entries'>;
  readonly pipeline: CommitPipeline;
  readonly now: () => number;
}

export class CallClaims {
  readonly #options: CallClaimsOptions;
  readonly #log: InvocationLog;
  readonly #ledger: Ledger;

  constructor(options: CallClaimsOptions) {
    this.#options = options;
    this.#log = new InvocationLog(options.pipeline, options.store.records, options.now);
    this.#ledger = new Ledger(options.store);
  }

  /** Emits `closing` in the same commit. Throws `BudgetExhausted` when nothing is left. */
  async claim(
    node: CallingNode,
    place: CallPlace,
    call: PlannedCall,
    { tried, closing }: { readonly tried: number; readonly closing: readonly EmittedEvent[] },
  ): Promise<Claimed> {
    const { pipeline, now } = this.#options;
    const { owner, rootRunId, workflowId } = node;
    const account: Account = { owner, rootRunId, workflowId, at: now() };
    let { outputTokens } = call;
    for (let lowered = 0; ; lowered++) {
      const ceilings = (await node.budget?.ceilings()) ?? { run: {}, project: {} };
      const reserved = atMost(call, outputTokens);
      let untold: readonly EmittedEvent[] = [];
      const claim = await this.#log.claim(
        { ...effectOf(node, place, tried), fingerprint: place.fingerprint, reserves: wordOf(reserved) },
        [leaseOf(node.epoch, now()), ...adjusting(account, reserved, ceilings)],
        async (group) => {
          if (closing.length === 0) return pipeline.commit(group);
          const told = await node.tell(closing, group);
          if (told) return told;
          untold = closing;
          return pipeline.commit(group.map(withEventsPending));
        },
      );
      if (claim.kind === 'claimed') {
        const { invocationId, values } = claim;
        const total = values ? runTotals(values) : await this.#ledger.ofRun(owner.tenant, rootRunId);
        return { invocationId, tried, account, reserved, outputTokens, total, untold };
      }
      if (claim.kind !== 'lost' || claim.write === 0) throw leaseLost();
      const fits = await this.#lowered({ ...call, outputTokens }, account, ceilings);
      if (fits === null || lowered === LOWERED_MAX)
        throw await this.#exhausted({ ...call, outputTokens }, account, ceilings, claim.write - 1);
      outputTokens = fits;
    }
  }

  /** The output bound that fits into what is left of the budget. */
  async #lowered(call: PlannedCall, account: Account, { run, project }: Ceilings): Promise<number | null> {
    const ofRun = await this.#ledger.ofRun(account.owner.tenant, account.rootRunId);
    const ofProject = await this.#ledger.ofProject(account);
    const leftOf = (name: keyof Amounts): number =>
      Math.min(
        (run[name] ?? Number.POSITIVE_INFINITY) - ofRun[name],
        (project[name] ?? Number.POSITIVE_INFINITY) - ofProject[name],
      );
    return outputThatFits(call, { tokens: leftOf('tokens'), cost: leftOf('cost') });
  }

  async #exhausted(
    call: PlannedCall,
    account: Account,
    ceilings: Ceilings,
    write: number,
  ): Promise<BudgetExhausted> {
    const { dimension, scope } = fullCounter(write);
    const { tenant } = account.owner;
    const spent =
      scope === 'run'
        ? await this.#ledger.ofRun(tenant, account.rootRunId)
        : await this.#ledger.ofProject(account);
    const { outputTokens, outputTokensMin = OUTPUT_TOKENS_MIN } = call;
    return new BudgetExhausted({
      dimension,
      scope,
      limit: ceilings[scope][dimension] ?? 0,
      spent: spent[dimension],
      reserved: atMost(call, outputTokens)[dimension],
      needed: atMost(call, Math.min(outputTokens, outputTokensMin))[dimension],
    });
  }
}

/** Marks the claim, so that another process that finds it without a record knows that its events are not logged. */
const withEventsPending = (write: Write): Write =>
  write.kind === 'claimInvocation' ? { ...write, record: { ...write.record, eventsPending: true } } : write;

const effectOf = ({ owner, runId, nodeId }: CallingNode, { ordinal, series }: CallPlace, tried: number) => ({
  tenant: owner.tenant,
  runId,
  nodeId,
  ordinal,
  providerKey: tried === 0 ? series : `${series}\0${tried}`,
});

export const idOf = (node: CallingNode, place: CallPlace, tried: number): string =>
  logicalInvocationId(effectOf(node, place, tried));

/** One channel for each try of the call. */
export const channelOf = (node: CallingNode, place: CallPlace, tried: number): string =>
  `${idOf(node, place, 0)}.${tried}`;

export const closed = (node: CallingNode, place: CallPlace, tried: number): EmittedEvent =>
  chunkEvent(channelOf(node, place, tried), '', true);

const atMost = ({ inputTokens, price, units }: PlannedCall, outputTokens: number): Amounts => ({
  tokens: inputTokens + outputTokens,
  cost: price ? costAtMost(price, inputTokens, outputTokens, units) : 0,
});
