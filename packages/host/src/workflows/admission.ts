/** Whether a run may start: the same checks for `POST /v1/runs` and for runs that the host starts. */
import { checkInputs, childWorkflows, type InputIssue } from '@gantry/engine';
import { checkRunOptions, invalid, type JsonObject, OpenwopError, type RunOwner } from '@gantry/protocol';
import { Contended } from '@gantry/resources';
import type { NewRun, ResolvedWorkflow, Workflows } from '../runtime/runtime.ts';
import { checkConfigurable } from './configurable.ts';

export interface RunRequest {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
}

export type Admitting = Pick<Workflows, 'resolve' | 'checkActing'>;

/**
 * For a run that the host starts later, or now. Throws `not_found`, `validation_error` or `forbidden` if it cannot be
 * created.
 */
export async function admit(
  workflows: Admitting,
  owner: RunOwner,
  request: Pick<RunRequest, 'workflowId' | 'inputs'> & Partial<RunRequest>,
): Promise<NewRun> {
  const { workflowId, inputs, configurable = {}, tags = [], metadata = {} } = request;
  const workflow = await workflows.resolve(owner.tenant, workflowId);
  if (workflow === null) {
    throw new OpenwopError('not_found', { message: `There is no workflow ${workflowId}.` });
  }
  await workflows.checkActing(owner, workflow.record);
  checkRunOptions({ workflowId, configurable, metadata });
  await checkAdmission(workflows, owner.tenant, workflow, { inputs, configurable });
  return { owner, workflow, inputs, configurable, tags, metadata };
}

/** Checks that depend on the workflow: its schema for options, its inputs, its children. */
export async function checkAdmission(
  workflows: Pick<Workflows, 'resolve'>,
  tenant: string,
  { definition, plan }: ResolvedWorkflow,
  { inputs, configurable }: Pick<RunRequest, 'inputs' | 'configurable'>,
): Promise<void> {
  checkConfigurable(definition, configurable);
  refuseInputs(checkInputs(plan, inputs));
  const children = childWorkflows(plan);
  if (children.length > 0) await checkChildren(workflows, tenant, children);
}

function refuseInputs(issues: readonly InputIssue[]): void {
  const [first] = issues;
  if (first === undefined) return;
  throw invalid(`The inputs do not match the workflow: ${first.message}`, {
    fields: issues.map(({ path, message }) => ({ field: path, problem: message })),
  });
}

/** A run whose child cannot be started is refused before it does part of its work. */
async function checkChildren(
  workflows: Pick<Workflows, 'resolve'>,
  tenant: string,
  children: ReturnType<typeof childWorkflows>,
): Promise<void> {
  for (const { nodeId, workflowId } of children) {
    if ((await workflows.resolve(tenant, workflowId)) !== null) continue;
    throw new OpenwopError('unknown_child_workflow', {
      message: `The workflow starts ${workflowId} as a child, which does not exist. Register it first.`,
      details: { nodeId, workflowId },
    });
  }
}

/** Whether a failed create would fail the same way again. */
export const isFinal = (error: unknown): error is OpenwopError =>
  error instanceof OpenwopError && error.status < 500 && !(error instanceof Contended);

/** Inputs as readers may see them. For a deleted workflow it is unknown which are sensitive. */
export function shownInputs(workflow: ResolvedWorkflow | null, inputs: JsonObject): JsonObject {
  if (workflow === null) return {};
  const { variables, mask } = workflow.plan;
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(inputs)) {
    const seen = variables.get(name)?.sensitive === true ? mask(value) : value;
    if (seen !== undefined) shown[name] = seen;
  }
  return shown;
}
