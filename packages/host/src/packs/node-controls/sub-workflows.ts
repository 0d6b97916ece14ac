/**
 * `ctx.invokeSubWorkflow({workflowRef, inputs})`: the child is the engine's to start, so the node stops at its first
 * call that has no answer yet, and its code runs again from the top when the child has ended.
 *
 * I1  Calls are told apart by their order alone; the n-th call gets the n-th answer.
 * I2  From the call without an answer on nothing more is done for the code, and what it gives back is not heard.
 */
import type { CalledRun, WorkflowCall } from '@gantry/engine';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { type CallIo, type Data, ErrorForPack } from '@gantry/sandbox';
import { toObject } from '../data.ts';
import type { Members } from './members.ts';

const WORKFLOW_ID = /^[a-z][a-z0-9_-]{0,127}$/;
const PATH = 'invokeSubWorkflow';

export class SubWorkflows {
  readonly members: Members;
  readonly #answered: readonly CalledRun[];
  #made = 0;
  #dispatch = 0;
  #wanted: WorkflowCall | undefined;

  constructor(answered: readonly CalledRun[]) {
    this.#answered = answered;
    this.members = { table: { [PATH]: 'unary' }, call: async (_, args, io) => this.#call(args, io) };
  }

  /** The child that the node has to wait for. */
  get wanted(): WorkflowCall | undefined {
    return this.#wanted;
  }

  /** Everything that the code may call, as long as it does not wait for a child: I2. */
  closing(members: Members): Members {
    return {
      table: members.table,
      call: async (method, args, io) => {
        this.#follow(io);
        if (this.#wanted) throw waiting(this.#wanted);
        return members.call(method, args, io);
      },
    };
  }

  #call([request = null]: readonly Data[], io: CallIo): Data {
    this.#follow(io);
    const call = callOf(toObject(request));
    const answered = this.#answered[this.#made];
    this.#made += 1;
    if (answered) return answerOf(call, answered, this.#made);
    this.#wanted = call;
    throw waiting(call);
  }

  /** The process went down under another node: the code began again. */
  #follow({ dispatch }: CallIo): void {
    if (dispatch === this.#dispatch) return;
    this.#dispatch = dispatch;
    this.#made = 0;
    this.#wanted = undefined;
  }
}

function callOf({ workflowRef, inputs = {}, runOptions = {} }: JsonObject): WorkflowCall {
  if (typeof workflowRef !== 'string' || !WORKFLOW_ID.test(workflowRef))
    throw invalid('workflowRef', 'it is the id of a registered workflow, without a version');
  if (!isObject(inputs)) throw invalid('inputs', 'they are an object');
  if (runOptions !== null && (!isObject(runOptions) || Object.keys(runOptions).length > 0))
    throw invalid('runOptions', 'children run under the options of their parent; leave them out');
  return { workflowId: workflowRef, inputs };
}

const isObject = (value: JsonObject[string]): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (field: string, rule: string): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `ctx.${PATH}: ${field} does not fit: ${rule}.`,
    details: { field },
  });

/** As public packs expect it, failures propagate: only a child that completed is an answer. */
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
