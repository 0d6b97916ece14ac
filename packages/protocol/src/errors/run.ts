import type { ErrorEntry } from './entry.ts';

/** Why a run failed. No HTTP response carries these. */
export const RUN_ERRORS = {
  input_unresolved: {
    status: 0,
    retriable: false,
    message: 'An input of the node could not be resolved.',
    next: 'Give the input a value, or mark it optional in the workflow.',
  },
  expression_failed: {
    status: 0,
    retriable: false,
    message: 'An expression in the workflow failed.',
    next: 'Correct the expression; guard values that can be absent.',
  },
  node_timeout: {
    status: 0,
    retriable: true,
    message: 'The node took longer than it may.',
    next: 'Raise the timeout in the settings of the node, or make its work smaller.',
  },
  effect_in_doubt: {
    status: 0,
    retriable: false,
    message: 'The host stopped while the node was changing something outside, and cannot know if it did.',
    next: 'Check the outside system, then fork or start a new run; declare the call idempotent if it is.',
  },
  invocation_poisoned: {
    status: 0,
    retriable: false,
    message: 'The host ended several times in a row while this node ran, so the node is not started again.',
    next: 'See the log of the host for why it ended, correct or replace the pack, then retry, fork or start a new run.',
  },
  recursion_limit_exceeded: {
    status: 0,
    retriable: false,
    message: 'The run started more nodes than it may.',
    next: 'Look for an endless loop, or raise `configurable.recursionLimit` up to the host limit.',
  },
  run_timeout: {
    status: 0,
    retriable: false,
    message: 'The run took longer than it may.',
    next: 'Raise `configurable.runTimeoutMs` or the `timeout` of the workflow, up to the host limit.',
  },
  loop_limit_exceeded: {
    status: 0,
    retriable: false,
    message: 'A loop went round more often than it may.',
    next: 'Check how the loop ends, or raise its limit in the workflow or in `configurable`.',
  },
  budget_exhausted: {
    status: 0,
    retriable: false,
    message: 'The budget of the run is used up.',
    next: 'Start it again with a larger budget.',
  },
  token_budget_exceeded: {
    status: 0,
    retriable: false,
    message: 'The run used more tokens than it may.',
    next: 'Raise the token budget, or shorten the prompts.',
  },
  version_out_of_range: {
    status: 0,
    retriable: false,
    message: 'The run is pinned to a code version that the node no longer supports.',
    next: 'Restore support for the pinned version, or start a new run.',
  },
  approval_rejected: {
    status: 0,
    retriable: false,
    message: 'The approval was rejected.',
    next: 'See who decided in the event log; add an `any_failed` edge to handle rejections.',
  },
  interrupt_timeout: {
    status: 0,
    retriable: false,
    message: 'Nobody answered the interrupt in time.',
    next: 'Give it more time with `timeoutMs`, or add an `any_failed` edge to handle the silence.',
  },
  child_failed: {
    status: 0,
    retriable: false,
    message: 'A child run failed or was cancelled, and the node with it.',
    next: 'Read the run in `details.childRunId`; absorb the failure, or handle it with an `any_failed` edge.',
  },
  fan_out_unsupported: {
    status: 0,
    retriable: false,
    message: 'The dispatch node was asked for several workers but takes one at a time.',
    next: 'Choose another `fanOutPolicy`, or decide for one worker.',
  },
  no_pending_decision: {
    status: 0,
    retriable: false,
    message: 'The dispatch node found no decision to carry out.',
    next: 'Put a supervisor node before it.',
  },
  channel_schema_breaking_change: {
    status: 0,
    retriable: false,
    message: 'The channel holds values that its new schema cannot read.',
    next: 'List the old version in `compatibleWith`, or follow `details.migrationHint`.',
  },
  connector_auth_expired: {
    status: 0,
    retriable: false,
    message: 'The connection to the outside service has to be authorized again.',
    next: 'Authorize the connection, then retry the run.',
  },
  conformance_test_failure: {
    status: 0,
    retriable: false,
    message: 'Intentional conformance failure',
    next: 'Nothing is wrong: a `core.fail` node without its own code ran.',
  },
} as const satisfies Record<string, ErrorEntry>;
