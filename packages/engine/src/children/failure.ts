import { given, type JsonObject, type RunError } from '@gantry/protocol';
import type { EndedChild } from './child.ts';

/** How a node fails over a child. One that could not be started says why itself. */
export function childFailure(child: EndedChild): RunError {
  const { childRunId, status, error, workflowId } = child;
  if (childRunId === undefined && error) return error;
  const details: JsonObject = { childRunId: childRunId ?? '', childStatus: status };
  if (error) details.error = error;
  const why = error ? `: ${error.message}` : '.';
  return { code: 'child_failed', message: `The child run of ${workflowId} ${VERBS[status]}${why}`, details };
}

const VERBS = { completed: 'completed', failed: 'failed', cancelled: 'was cancelled' } as const;

/** A child as the outputs of its node tell of it. */
export const childView = ({ childRunId, status: childStatus, error }: EndedChild): JsonObject =>
  given({ childRunId, childStatus, error });
