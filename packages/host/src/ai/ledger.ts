/**
 * The cost of model calls: integer counters, of spent and reserved amounts together.
 *
 * I1  The maximum cost of a call is reserved in the commit of its claim, and corrected to the actual cost in the commit
 *     of its record.
 * I2  A claim without a record keeps its reservation: the cost is unknown. Such claims are listed by run.
 * I3  Counters of a run are deleted with the root of its family, at the latest when those of a project expire.
 */
import { given, type ModelUsage, type Owner, workspaceKey } from '@gantry/protocol';
import type { EntryKey, Store, Write } from '@gantry/store';
import { reservedBy } from '../runtime/invocation-log.ts';

export const LEDGER = 'ledger';
export const USAGE = 'usage';
const DAY_MS = 86_400_000;
/** How long the counters of a day are kept. */
const KEPT_MS = 400 * DAY_MS;
const CLAIMS_LISTED_MAX = 1_000;

/** Billionths of a US dollar: the price of one token is a whole number of them. */
export const NANO_USD = 1_000_000_000;

export const DIMENSIONS = ['tokens', 'cost'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Cost is in billionths of a US dollar. */
export type Amounts = Readonly<Record<Dimension, number>>;
export type Limits = Readonly<Partial<Record<Dimension, number>>>;

/** The account that a call is charged to. */
export interface Account {
  readonly owner: Owner;
  /** Of the family of runs. */
  readonly rootRunId: string;
  readonly workflowId: string;
  /** When the call was claimed. */
  readonly at: number;
}

export interface Ceilings {
  readonly run: Limits;
  readonly project: Limits;
}

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const keyOf = (tenant: string, id: string, kind = LEDGER): EntryKey => ({ kind, tenant, id });

export const runCounter = (tenant: string, root: string, dimension: string): EntryKey =>
  keyOf(tenant, `run/${root}/${dimension}`);

export const projectCounter = ({ owner, at }: Pick<Account, 'owner' | 'at'>, dimension: string): EntryKey =>
  keyOf(owner.tenant, `project/${workspaceKey(owner.workspace)}/${dayOf(at)}/${dimension}`);

/**
 * Reserves in the commit of the claim: the index of a write that loses identifies the full counter (`fullCounter`).
 * Without ceilings none of them can lose.
 */
export const adjusting = (account: Account, delta: Amounts, ceilings?: Ceilings): Write[] =>
  DIMENSIONS.flatMap((dimension): Write[] => {
    const { owner, rootRunId: runId, at } = account;
    const adjust = { kind: 'adjust', delta: delta[dimension] } as const;
    // Forks may outlive the root: a counter that they begin anew has no run that it could be deleted with
    const expiresAt = at + KEPT_MS;
    const run = { key: runCounter(owner.tenant, runId, dimension), runId, expiresAt };
    const project = { key: projectCounter(account, dimension), expiresAt };
    return [
      { ...adjust, ...run, ...given({ max: ceilings?.run[dimension] }) },
      { ...adjust, ...project, ...given({ max: ceilings?.project[dimension] }) },
    ];
  });

/** Counts one more of an action that is limited per family of runs. */
export const countingOne = (
  { tenant, root, at }: { readonly tenant: string; readonly root: string; readonly at: number },
  dimension: string,
  max?: number,
): Write => ({
  kind: 'adjust',
  key: runCounter(tenant, root, dimension),
  delta: 1,
  runId: root,
  expiresAt: at + KEPT_MS,
  ...given({ max }),
});

/** The counter that a write of `adjusting` is for; `runTotals` reads those of the run from the commit's values. */
export const fullCounter = (write: number): { dimension: Dimension; scope: keyof Ceilings } => ({
  dimension: DIMENSIONS[write >> 1]!,
  scope: write % 2 === 0 ? 'run' : 'project',
});

export const runTotals = (values: readonly number[]): Amounts => ({ tokens: values[0]!, cost: values[2]! });

export interface Spent extends Amounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** In the commit of the record. None of these writes can lose. */
export function settling(account: Account, reserved: Amounts, spent: Spent): Write[] {
  const { owner, workflowId, at } = account;
  const delta = { tokens: spent.tokens - reserved.tokens, cost: spent.cost - reserved.cost };
  const { inputTokens, outputTokens, cost } = spent;
  const used = { calls: 1, inputTokens, outputTokens, cost };
  return [
    ...adjusting(account, delta),
    ...Object.entries(used).map(([name, amount]): Write => {
      const key = keyOf(owner.tenant, `${dayOf(at)}/${workflowId}/${name}`, USAGE);
      return { kind: 'adjust', key, delta: amount, expiresAt: at + KEPT_MS };
    }),
  ];
}

/** The form in a claim. */
export const wordOf = ({ tokens, cost }: Amounts): string => `${tokens}/${cost}`;

function amountsOf(word: string | undefined): Amounts | null {
  const [, tokens, cost] = /^(\d+)\/(\d+)$/.exec(word ?? '') ?? [];
  return tokens === undefined ? null : { tokens: Number(tokens), cost: Number(cost) };
}

export interface HeldClaim extends Amounts {
  readonly invocationId: string;
  readonly nodeId: string;
  readonly claimedAt: number;
}

export class Ledger {
  readonly #store: Pick<Store, 'entries' | 'records'>;

  constructor(store: Pick<Store, 'entries' | 'records'>) {
    this.#store = store;
  }

  ofRun(tenant: string, root: string): Promise<Amounts> {
    return this.#amounts((dimension) => runCounter(tenant, root, dimension));
  }

  ofProject(account: Pick<Account, 'owner' | 'at'>): Promise<Amounts> {
    return this.#amounts((dimension) => projectCounter(account, dimension));
  }

  /** I2. Open claims of one run: calls in progress, and those of unknown outcome. */
  async held(tenant: string, runId: string): Promise<HeldClaim[]> {
    const open = await this.#store.records.openClaims(tenant, runId, CLAIMS_LISTED_MAX);
    return open.flatMap((claim) => {
      const amounts = amountsOf(reservedBy(claim));
      const { invocationId, nodeId, claimedAt } = claim;
      return amounts ? [{ invocationId, nodeId, claimedAt, ...amounts }] : [];
    });
  }

  /** From one day to another, inclusive, by workflow. */
  async usage(tenant: string, from: string, to: string): Promise<Pick<ModelUsage, 'total' | 'workflows'>> {
    const byWorkflow = new Map<string, Used>();
    const total = newUsed();
    let afterId = `${from}/`;
    for (;;) {
      const page = await this.#store.entries.counters(USAGE, tenant, { prefix: '', afterId, limit: PAGE });
      for (const { id, value } of page) {
        const [day = '', workflowId = '', name = ''] = id.split('/');
        if (day > to) return { total: inDollars(total), workflows: listed(byWorkflow) };
        const used = byWorkflow.get(workflowId) ?? newUsed();
        byWorkflow.set(workflowId, used);
        for (const sum of [used, total]) sum[name as keyof Used] += value;
      }
      if (page.length < PAGE) return { total: inDollars(total), workflows: listed(byWorkflow) };
      afterId = page.at(-1)!.id;
    }
  }

  async #amounts(counterOf: (dimension: Dimension) => EntryKey): Promise<Amounts> {
    const { entries } = this.#store;
    const values = await Promise.all(DIMENSIONS.map((dimension) => entries.counter(counterOf(dimension))));
    return { tokens: values[0]!, cost: values[1]! };
  }
}

const PAGE = 1_000;

type Used = { calls: number; inputTokens: number; outputTokens: number; cost: number };

const newUsed = (): Used => ({ calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 });

const inDollars = ({ cost, ...used }: Used): ModelUsage['total'] => ({ ...used, costUsd: cost / NANO_USD });

/** The most expensive first, then those that used most tokens. */
const listed = (used: ReadonlyMap<string, Used>): ModelUsage['workflows'] =>
  [...used]
    .sort(
      ([, a], [, b]) => b.cost - a.cost || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens,
    )
    .map(([workflowId, each]) => ({ workflowId, ...inDollars(each) }));
