/**
 * `ctx.invokeSubWorkflow({workflowRef, inputs})`: the engine starts the child, so the node stops at its first
 * call that has no answer yet, and its code runs again from the top when the child has ended.
 *
 * I1  Calls are identified only by their order; the n-th call gets the n-th answer.
 */
import type { CalledRun, WorkflowCall } from '@gantry/engine';
import { isObject, type JsonObject, OpenwopError } from '@gantry/protocol';
import { type CallIo, type Data, ErrorForPack } from '@gantry/sandbox';
import { toObject } from '../data.ts';
import type { Members } from './members.ts';
import type { Stop } from './stop.ts';

const WORKFLOW_ID = /^[a-z][a-z0-9_-]{0,127}$/;
const PATH = 'invokeSubWorkflow';

export function subWorkflows(answered: readonly CalledRun[], stop: Stop): Members {
  let made = { calls: 0, dispatch: 0 };
  const call = ([request = null]: readonly Data[], { dispatch }: CallIo): Data => {
    const called = callOf(toObject(request));
    made = { dispatch, calls: dispatch === made.dispatch ? made.calls + 1 : 1 };
    const answer = answered[made.calls - 1];
    if (answer) return answerOf(called, answer, made.calls);
    const error = waiting(called);
    stop.want({ call: called }, error);
    throw error;
  };
  return { table: { [PATH]: 'unary' }, call: async (_, args, io) => call(args, io) };
}

function callOf({ workflowRef, inputs = {}, runOptions = {} }: JsonObject): WorkflowCall {
  if (typeof workflowRef !== 'string' || !WORKFLOW_ID.test(workflowRef))
    throw invalid('workflowRef', 'it must be the id of a registered workflow, without a version');
  if (!isObject(inputs)) throw invalid('inputs', 'they must be an object');
  if (runOptions !== null && (!isObject(runOptions) || Object.keys(runOptions).length > 0))
    throw invalid('runOptions', 'children run under the options of their parent; leave them out');
  return { workflowId: workflowRef, inputs };
}

const invalid = (field: string, rule: string): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `ctx.${PATH}: ${field} is not valid: ${rule}.`,
    details: { field },
  });

/** Failures propagate, as public packs expect: only a completed child is an answer. */
function answerOf({ workflowId }: WorkflowCall, called: CalledRun, nth: number): Data {
  if (called.workflowId !== workflowId) {
    const message = `Call ${nth} of ctx.${PATH} was of ${called.workflowId} before and is of ${workflowId} now. Code that calls workflows must call the same ones in the same order each time it runs.`;
    throw new OpenwopError('conflict', { message });
  }
  const { status, runId, outputs = {}, error } = called;
  if (status === 'completed' && runId !== undefined) return { runId, status, outputs };
  if (runId === undefined && error) throw new ErrorForPack(error.code, error.message);
  const why = error ? `: ${error.message}` : '.';
  const details: JsonObject = { childRunId: runId ?? '', childStatus: status };
  if (error) details.error = { code: error.code, message: error.message };
  const verb = status === 'failed' ? 'failed' : 'was cancelled';
  const message = `The child run of ${workflowId} ${verb}${why}`;
  throw new ErrorForPack('child_failed', message, { details, retryable: status === 'failed' });
}

const waiting = ({ workflowId }: WorkflowCall): ErrorForPack => {
  const message = `The node waits for ${workflowId}, which it called; its code runs again when that has ended.`;
  return new ErrorForPack('child_pending', message);
};
