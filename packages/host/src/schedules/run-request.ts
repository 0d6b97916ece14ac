/** Runs that the host itself starts are admitted like those of `POST /v1/runs`. */
import { checkInputs } from '@gantry/engine';
import { checkRunOptions, type JsonObject, OpenwopError, type Owner } from '@gantry/protocol';
import type { NewRun, ResolvedWorkflow, Workflows } from '../runtime/runtime.ts';
import { checkConfigurable } from '../workflows/configurable.ts';

export interface RunRequest {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
}

/** Throws `not_found` or `validation_error` when no run can come of it. */
export async function admit(
  workflows: Pick<Workflows, 'resolve'>,
  owner: Owner,
  request: RunRequest,
): Promise<NewRun> {
  const { workflowId, inputs, configurable, tags, metadata } = request;
  const workflow = await workflows.resolve(owner.tenant, workflowId);
  if (workflow === null) {
    throw new OpenwopError('not_found', { message: `There is no workflow ${workflowId}.` });
  }
  checkRunOptions({ workflowId, configurable, metadata });
  checkConfigurable(workflow.definition, configurable);
  const issues = checkInputs(workflow.plan, inputs);
  if (issues.length > 0) {
    throw new OpenwopError('validation_error', {
      message: `The inputs do not fit the workflow: ${issues[0]!.message}`,
      details: { fields: issues.map(({ path, message }) => ({ field: path, problem: message })) },
    });
  }
  return { owner, workflow, inputs, configurable, tags, metadata };
}

/** Whether a failed create would fail the same way again. */
export const isFinal = (error: unknown): error is OpenwopError =>
  error instanceof OpenwopError && error.status < 500;

/** Inputs as readers may see them. Of a workflow that is gone nobody knows what is sensitive. */
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
