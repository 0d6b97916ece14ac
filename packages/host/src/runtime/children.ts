/** Child runs: prepared here, created in the commit in which the parent records their start. */
import {
  type ChildRequest,
  type ChildStart,
  checkInputs,
  exposedInput,
  inheritedBudget,
  inheritedTrust,
  isRunningChild,
  type ParentLink,
  type Plan,
  type Run,
  type RunFacts,
  rootRunId,
} from '@gantry/engine';
import type { JsonObject, RunError } from '@gantry/protocol';
import { type OpenedRun, type Opening, openRun, startRun } from './opened-run.ts';
import { nextRunId } from './run-id.ts';
import type { Workflows } from './runtime.ts';

/** Limits a workflow that starts itself as a child. */
const DEPTH_MAX = 16;

export interface PreparedChildren {
  readonly starts: readonly ChildStart[];
  readonly opened: readonly OpenedRun[];
}

/** The children that the parent accepted: a deadline or a failed sibling may have reduced them. */
export const takenChildren = ({ opened }: PreparedChildren, parent: Run): OpenedRun[] =>
  opened.filter(({ run }) => isRunningChild(parent, run.facts));

export interface ChildrenOptions {
  readonly opening: Opening;
  readonly resolve: Workflows['resolve'];
}

export async function prepareChildren(
  { opening, resolve }: ChildrenOptions,
  { plan, run: parent }: { readonly plan: Plan; readonly run: Run },
  requests: readonly ChildRequest[],
): Promise<PreparedChildren> {
  const prepared = await Promise.all(
    requests.map(async (request) => {
      const refusal = refusalOf(parent);
      if (refusal) return { start: { index: request.index, error: refusal } };
      const workflow = await resolve(parent.facts.owner.tenant, request.workflowId);
      if (!workflow) return { start: { index: request.index, error: unknownChild(request.workflowId) } };
      const issue = checkInputs(workflow.plan, request.inputs).find(({ path }) => !isUnset(request, path));
      if (issue) return { start: { index: request.index, error: badInputs(request, issue.message) } };
      const exposed = exposedInput(plan, workflow.plan, request);
      if (exposed) return { start: { index: request.index, error: exposed } };
      const { hash, workflowId } = workflow.record;
      const cause = plan.nodes.get(request.nodeId)!.typeId;
      const facts = childFacts(opening, parent, request, { workflowHash: hash, workflowId, cause });
      const opened = openRun(opening, startRun(opening, workflow.plan, facts), null);
      return { start: { index: request.index, childRunId: facts.runId }, opened };
    }),
  );
  return {
    starts: prepared.map(({ start }) => start),
    opened: prepared.flatMap((child) => (child.opened ? [child.opened] : [])),
  };
}

/** An input that is mapped, and that the parent leaves unset, stays unset, even if the child requires it. */
const isUnset = ({ unset }: ChildRequest, path: string): boolean =>
  unset.includes(path.slice('/inputs/'.length));

function childFacts(
  { now, randomBytes }: Opening,
  parent: Run,
  request: ChildRequest,
  child: Pick<RunFacts, 'workflowId' | 'workflowHash'> & Pick<ParentLink, 'cause'>,
): RunFacts {
  const { facts, budget } = parent;
  const { cause, ...workflow } = child;
  const at = now();
  const { nodeId, visit, inputs, unset, harvest, reportsOutputs } = request;
  return {
    ...workflow,
    runId: nextRunId(now, randomBytes),
    owner: facts.owner,
    createdAt: at,
    inputs,
    configurable: { ...inheritedOptions(facts), ...inheritedBudget({ budget }) },
    tags: [...facts.tags],
    metadata: {},
    limits: facts.limits,
    ...inheritedTrust(parent),
    ...(facts.traceparent !== undefined && { traceparent: facts.traceparent }),
    parent: {
      runId: facts.runId,
      nodeId,
      visit,
      cause,
      workflowId: facts.workflowId,
      depth: (facts.parent?.depth ?? 0) + 1,
      rootRunId: rootRunId(facts),
      harvest,
      unset,
      ...(reportsOutputs && { reportsOutputs }),
    },
  };
}

/** Child runs inherit the model options of their parent. */
const INHERITED = ['ai', 'model', 'mockProvider'] as const;

const inheritedOptions = ({ configurable }: RunFacts): JsonObject =>
  Object.fromEntries(
    INHERITED.flatMap((name) => (configurable[name] === undefined ? [] : [[name, configurable[name]]])),
  );

function refusalOf({ facts }: Run): RunError | undefined {
  if (facts.fork?.mode === 'replay')
    return { code: 'replay_source_missing', message: 'The replayed run has no record of this child.' };
  if ((facts.parent?.depth ?? 0) + 1 > DEPTH_MAX)
    return {
      code: 'child_depth_exceeded',
      message: `Child runs can be nested at most ${DEPTH_MAX} levels deep.`,
    };
  return;
}

const unknownChild = (workflowId: string): RunError => ({
  code: 'unknown_child_workflow',
  message: `There is no workflow ${workflowId} to start as a child. Register it, then run again.`,
  details: { workflowId },
});

const badInputs = ({ workflowId }: ChildRequest, problem: string): RunError => ({
  code: 'invalid_input',
  message: `The inputs for ${workflowId} are not valid: ${problem}. Map it, or give it a defaultValue in ${workflowId}.`,
});
