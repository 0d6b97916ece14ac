/**
 * The budget of a run. The limits are in the log. The host counts the spending of the family, and reports it
 * with `budget.consumed`. Retries, and tool calls that a script simulates, are counted here.
 */
import {
  type BudgetDimension,
  type BudgetPolicy,
  given,
  type JsonObject,
  matchesPattern,
  type RunError,
  type RunEvent,
} from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { isObject } from '../json.ts';
import { terminateNode } from '../node-run.ts';
import { numberAt, objectAt, textAt, textsAt } from '../payload.ts';
import type { Plan, PlanNode } from '../plan.ts';
import type { RunFacts } from '../run.ts';
import { emit, emitNode, type Step } from '../step.ts';

/** Cost is in US dollars. */
export type BudgetLimits = { readonly [Dimension in BudgetDimension]?: number };

export interface RunBudget {
  readonly limits: BudgetLimits;
  readonly thresholdPercent?: number;
  readonly asks: boolean;
  /** Exceeding the limits never stops the run. */
  readonly advisory: boolean;
  readonly modelAllow?: readonly string[];
  readonly modelDeny?: readonly string[];
  /** Dimensions whose threshold was reported; those reported as exhausted have the prefix `!`. */
  readonly told: readonly string[];
  readonly retries: number;
  /** The last value in the log. */
  readonly toolCalls?: number;
}

/** A dimension whose budget is exhausted. */
export interface Exhaustion {
  readonly dimension: BudgetDimension;
  readonly limit: number;
  /** The amount that would be reached. */
  readonly observed: number;
  /** What the node needs at least, and what is left. */
  readonly short?: { readonly needed: number; readonly available: number };
  /** The reason, if the limit is not the run's own: an approval could not raise it. */
  readonly message?: string;
}

const NAMES = {
  tokens: 'maxTokens',
  cost: 'maxCostUsd',
  toolCalls: 'maxToolCalls',
  retries: 'maxRetries',
} as const;
const DIMENSIONS = Object.keys(NAMES) as BudgetDimension[];
const CAPS = {
  tokens: 'budget-tokens',
  cost: 'budget-cost',
  toolCalls: 'budget-tool-calls',
  retries: 'budget-retries',
} as const;

interface Scoped {
  readonly scope: 'run' | 'workflow' | 'project';
  readonly policy: BudgetPolicy;
}

/**
 * A child inherits the budget of its parent. The rest is counted for the whole family, so its workflow sets no limits.
 */
function policiesOf({ definition }: Plan, { configurable, limits, parent }: RunFacts): Scoped[] {
  const { budget } = definition.settings;
  const found: Scoped[] = [];
  if (isObject(configurable.budget)) found.push({ scope: 'run', policy: configurable.budget });
  if (budget) found.push({ scope: 'workflow', policy: parent ? modelsOf(budget) : budget });
  if (limits.budget) found.push({ scope: 'project', policy: limits.budget });
  return found;
}

const modelsOf = ({ modelAllow, modelDeny }: BudgetPolicy): BudgetPolicy => given({ modelAllow, modelDeny });

/** Uses the lowest limit of each dimension. The scope is that of the first limit found. */
export function reserveBudget(step: Step): void {
  const policies = policiesOf(step.plan, step.run.facts);
  const [first] = policies;
  if (!first) return;
  const effective: JsonObject = {};
  let { scope } = first;
  for (const name of Object.values(NAMES)) {
    const bounds = policies.filter(({ policy }) => policy[name] !== undefined);
    const lowest = bounds.toSorted((a, b) => a.policy[name]! - b.policy[name]!)[0];
    if (!lowest) continue;
    if (Object.keys(effective).length === 0) scope = lowest.scope;
    effective[name] = lowest.policy[name]!;
  }
  const one = <Key extends keyof BudgetPolicy>(key: Key) =>
    policies.find(({ policy }) => policy[key] !== undefined)?.policy[key];
  const sealed: JsonObject = { asks: one('onExhaustion') === 'interrupt' };
  const percent = one('thresholdPercent');
  if (percent !== undefined) sealed.thresholdPercent = percent;
  if (step.run.facts.limits.advisoryBudget) sealed.advisory = true;
  const allowed = policies.flatMap(({ policy }) => (policy.modelAllow ? [policy.modelAllow] : []));
  if (allowed.length > 0) sealed.modelAllow = allowed.reduce(allowedByBoth);
  const deny = policies.flatMap(({ policy }) => policy.modelDeny ?? []);
  if (deny.length > 0) sealed.modelDeny = deny;
  emit(step, 'budget.reserved', { effectiveBudget: effective, scope }, sealed);
}

/**
 * Patterns that both lists cover. Two patterns that only overlap, such as `a*` and `*b`, are both left out:
 * that allows less, never more.
 */
const allowedByBoth = (some: readonly string[], others: readonly string[]): string[] => [
  ...some.filter((each) => others.some((other) => matchesPattern(other, each))),
  ...others.filter((each) => !some.includes(each) && some.some((other) => matchesPattern(other, each))),
];

export function foldBudget(run: Draft, { type, sealed }: RunEvent, payload: JsonObject): void {
  const before = run.budget;
  if (type === 'budget.reserved') {
    const effective = objectAt(payload, 'effectiveBudget') ?? {};
    const limits = Object.fromEntries(
      DIMENSIONS.flatMap((name) =>
        typeof effective[NAMES[name]] === 'number' ? [[name, effective[NAMES[name]]]] : [],
      ),
    );
    run.budget = before ? { ...before, limits, told: [] } : { ...termsOf(sealed ?? {}), limits };
  } else if (before && (type === 'budget.threshold.crossed' || type === 'budget.exhausted')) {
    const mark = type === 'budget.exhausted' ? '!' : '';
    run.budget = { ...before, told: [...before.told, `${mark}${textAt(payload, 'dimension')}`] };
  } else if (before && type === 'budget.consumed' && payload.dimension === 'toolCalls')
    run.budget = { ...before, toolCalls: numberAt(payload, 'consumed', 0) };
}

const termsOf = (sealed: JsonObject): Omit<RunBudget, 'limits'> => ({
  asks: sealed.asks === true,
  advisory: sealed.advisory === true,
  told: [],
  retries: 0,
  ...(typeof sealed.thresholdPercent === 'number' && { thresholdPercent: sealed.thresholdPercent }),
  ...(Array.isArray(sealed.modelAllow) && { modelAllow: textsAt(sealed, 'modelAllow') }),
  ...(Array.isArray(sealed.modelDeny) && { modelDeny: textsAt(sealed, 'modelDeny') }),
});

/** After `budget.consumed`: reports, once, that the threshold is reached, or the whole limit if nothing is stopped. */
export function tellThreshold(step: Step, node: PlanNode, payload: JsonObject): void {
  const { budget } = step.run;
  if (!budget) return;
  const dimension = textAt(payload, 'dimension');
  const percent = budget.thresholdPercent;
  const [consumed, limit] = [numberAt(payload, 'consumed', 0), numberAt(payload, 'limit', 0)];
  if (percent !== undefined && consumed >= (limit * percent) / 100 && !budget.told.includes(dimension))
    emitNode(step, node.id, 'budget.threshold.crossed', { dimension, consumed, limit, percent });
  if (budget.advisory && consumed >= limit && !budget.told.includes(`!${dimension}`))
    emitNode(step, node.id, 'budget.exhausted', { dimension, consumed, limit });
}

/** Ends the run, or requests approval to spend more. `memo` is returned to the node with the answer. */
export function exhaust(step: Step, node: PlanNode, about: Exhaustion, memo: JsonObject = {}): void {
  const { dimension, limit, observed, short, message } = about;
  emitNode(step, node.id, 'budget.exhausted', { dimension, consumed: observed, limit });
  if (step.run.budget?.asks && message === undefined) {
    suspend(step, node, {
      kind: 'approval',
      reason: 'budget-exhausted',
      memo: { ...memo, budget: dimension },
      data: {
        artifactId: `${step.run.facts.runId}:budget:${dimension}`,
        artifactType: 'budget',
        title: `${short ? inWords(dimension, limit, short) : `The run has used up its budget of ${dimension} (${limit}).`} Accept to give it as much again, or edit ${NAMES[dimension]}.`,
        actions: ['accept', 'edit-accept', 'reject'],
        artifactData: { [NAMES[dimension]]: limit },
      },
    });
    return;
  }
  breach(step, node, about);
}

function inWords(
  dimension: BudgetDimension,
  limit: number,
  { needed, available }: NonNullable<Exhaustion['short']>,
): string {
  const unit = dimension === 'cost' ? 'US dollars' : 'tokens';
  return `The next call of the node needs at least ${needed} ${unit}, and the run has ${available} left of ${limit} (${NAMES[dimension]}).`;
}

function breach(step: Step, node: PlanNode, about: Exhaustion): void {
  const { dimension, limit, observed, short, message } = about;
  emitNode(step, node.id, 'cap.breached', { kind: CAPS[dimension], limit, observed, nodeId: node.id });
  const error: RunError = {
    code: 'budget_exhausted',
    message:
      message ??
      `${short ? inWords(dimension, limit, short) : `The budget of the run is used up: ${NAMES[dimension]} is ${limit}.`} Start a new run with a larger budget.`,
  };
  terminateNode(step, node, error);
}

/** An accepted approval raises the budget, and the node continues. Returns false if the node itself must continue. */
export function answerBudget(step: Step, node: PlanNode, { interrupt, value, rejected }: Answer): boolean {
  const dimension = interrupt.memo?.budget;
  const { budget } = step.run;
  if (typeof dimension !== 'string' || !budget) return false;
  const name = dimension as BudgetDimension;
  const limit = budget.limits[name] ?? 0;
  const edited = isObject(value) ? objectAt(value, 'editedArtifactData') : undefined;
  const added = rejected ? 0 : edited ? numberAt(edited, NAMES[name], limit) : limit;
  const ceiling = (step.run.facts.limits.budget as BudgetPolicy | undefined)?.[NAMES[name]];
  const raised = Math.min(limit + added, ceiling ?? Number.POSITIVE_INFINITY);
  if (raised <= limit) {
    const message = `The budget of the run is used up, and the operator of this host allows no more than ${ceiling}.`;
    const bounded = !rejected && added > 0 && { message };
    breach(step, node, { dimension: name, limit, observed: limit, ...bounded });
    return true;
  }
  const effectiveBudget = policyOf({ ...budget.limits, [name]: raised });
  emitNode(step, node.id, 'budget.reserved', { effectiveBudget, scope: 'run' });
  return interrupt.memo?.nextCall === undefined;
}

/** Whether one more retry or tool call would exceed the limit. */
export function exhaustedBy(
  { run: { budget } }: Step,
  dimension: 'retries' | 'toolCalls',
): Exhaustion | undefined {
  const limit = budget?.limits[dimension];
  const observed = (budget?.[dimension] ?? 0) + 1;
  if (limit === undefined || budget?.advisory || observed <= limit) return;
  return { dimension, limit, observed };
}

export function tellSpent(
  step: Step,
  node: PlanNode,
  dimension: 'retries' | 'toolCalls',
  consumed: number,
): void {
  const limit = step.run.budget?.limits[dimension];
  if (limit === undefined) return;
  const payload = { dimension, consumed, limit, remaining: Math.max(0, limit - consumed) };
  emitNode(step, node.id, 'budget.consumed', payload);
  tellThreshold(step, node, payload);
}

/** The budget for a child: that of its parent, including later additions. */
export function inheritedBudget({ budget }: { readonly budget?: RunBudget | undefined }): JsonObject {
  if (!budget) return {};
  const { limits, thresholdPercent, asks, modelAllow, modelDeny } = budget;
  return {
    budget: given({
      ...policyOf(limits),
      thresholdPercent,
      onExhaustion: asks ? 'interrupt' : undefined,
      modelAllow: modelAllow && [...modelAllow],
      modelDeny: modelDeny && [...modelDeny],
    }),
  };
}

/** Limits by their names in policies. */
const policyOf = (limits: BudgetLimits): JsonObject =>
  Object.fromEntries(
    DIMENSIONS.flatMap((each) => (limits[each] === undefined ? [] : [[NAMES[each], limits[each]]])),
  );

const NANO = 1e9;

/** Adds up the cost of models. Sums of dollars are rounded to a billionth, since adding raw fractions would drift. */
export function foldUsage(run: Draft, payload: JsonObject): void {
  const { usd = 0, tokens: { input = 0, output = 0 } = {} } = run.cost ?? {};
  run.cost = {
    usd: Math.round((usd + numberAt(payload, 'costEstimateUsd', 0)) * NANO) / NANO,
    tokens: {
      input: input + numberAt(payload, 'inputTokens', 0),
      output: output + numberAt(payload, 'outputTokens', 0),
    },
    model: textAt(payload, 'model'),
    provider: textAt(payload, 'provider'),
  };
}
