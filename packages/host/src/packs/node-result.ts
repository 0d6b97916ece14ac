/** Converts results of pack code to outcomes for the engine. */
import type { Outcome } from '@gantry/engine';
import { isObject, type JsonObject, type RunError } from '@gantry/protocol';
import type { InvocationOutcome, NodeError } from '@gantry/sandbox';
import { isHostKey } from '../tools/approval.ts';

const TEXT_MAX = 4_096;

export function outcomeOf({ result, variables }: Pick<InvocationOutcome, 'result' | 'variables'>): Outcome {
  switch (result.status) {
    case 'success':
      return { ok: true, outputs: result.outputs, ...(Object.keys(variables).length > 0 && { variables }) };
    case 'error':
      return failed(result.error);
    case 'suspended':
      if (isHostKey(result.key)) return failed(RESERVED_KEY);
      return { suspend: { key: result.key, request: result.request } };
    case 'terminate':
      return { terminate: errorFrom(result.request, 'WORKFLOW_STOPPED', 'The node ended the run.') };
    case 'directive':
      return directed(result.request);
  }
}

/** An answer under such a key would approve a call of the node, or act for a person. */
const RESERVED_KEY: NodeError = {
  code: 'validation_error',
  message: 'ctx.suspend: keys that begin with gantry. belong to the host. Choose another key.',
  retryable: false,
};

const failed = ({ code, message, retryable, details }: NodeError): Outcome => ({
  ok: false,
  retryable,
  error: { code, message, ...(details && { details }) },
});

/** Handles a failure that reached an error handler. There are no transactions to commit or roll back. */
function directed(request: JsonObject): Outcome {
  const { directive, fallback = null, upstreamError = null } = request;
  switch (directive) {
    case 'resume':
      return { ok: true, outputs: { directive, fallback, upstreamError, output: fallback } };
    case 'ignore':
      return { ok: true, outputs: { directive, fallback: null, upstreamError } };
    case 'break':
      return {
        terminate: errorFrom(upstreamError, 'error_directive_break', 'An error handler ended the run.'),
      };
    default:
      return {
        ok: false,
        retryable: false,
        error: {
          code: 'capability_not_provided',
          message: `This host does not serve the error directive ${JSON.stringify(directive ?? null).slice(0, 64)}; use resume, ignore or break.`,
        },
      };
  }
}

function errorFrom(value: JsonObject[string], code: string, message: string): RunError {
  const given: JsonObject = isObject(value) ? value : {};
  const { details } = given;
  return {
    code: textOf(given.code, code).slice(0, 128),
    message: textOf(given.message, message).slice(0, TEXT_MAX),
    ...(isObject(details) && { details }),
  };
}

const textOf = (value: JsonObject[string] | undefined, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback;
