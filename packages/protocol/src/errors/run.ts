import { refused, retriable } from './entry.ts';

/** Why a run failed. HTTP responses only contain codes with a status. */
export const RUN_ERRORS = {
  ...refused(0, {
    artifact_invalid: [
      'The artifact of the node does not match its type.',
      'Correct the value at `details.path`, or the artifact type of the node; nothing was stored.',
    ],
    input_unresolved: [
      'An input of the node could not be resolved.',
      'Give the input a value, or mark it optional in the workflow.',
    ],
    expression_failed: [
      'An expression in the workflow failed.',
      'Correct the expression; guard values that can be absent.',
    ],
    effect_in_doubt: [
      'The host stopped during an external effect of the node; it is unknown whether the effect happened.',
      'Check the external system, then fork or start a new run; declare the call idempotent if it is.',
    ],
    invocation_poisoned: [
      'The host ended several times in a row while this node ran, so the node is not started again.',
      'See the log of the host for why it ended, correct or replace the pack, then retry, fork or start a new run.',
    ],
    recursion_limit_exceeded: [
      'The run exceeded its limit of node executions.',
      'Look for an endless loop, or raise `configurable.recursionLimit` up to the host limit.',
    ],
    run_timeout: [
      'The run exceeded its time limit.',
      'Raise `configurable.runTimeoutMs` or the `timeout` of the workflow, up to the host limit.',
    ],
    loop_limit_exceeded: [
      'A loop exceeded its limit of iterations.',
      'Check how the loop ends, or raise its limit in the workflow or in `configurable`.',
    ],
    budget_exhausted: ['The budget of the run is used up.', 'Start a new run with a larger budget.'],
    token_budget_exceeded: [
      'The run exceeded its token limit.',
      'Raise the token budget, or shorten the prompts.',
    ],
    version_out_of_range: [
      'The run is pinned to a code version that the node no longer supports.',
      'Restore support for the pinned version, or start a new run.',
    ],
    approval_rejected: [
      'The approval was rejected.',
      'The event log names the approver; add an `any_failed` edge to handle rejections.',
    ],
    interrupt_timeout: [
      'Nobody answered the interrupt in time.',
      'Raise `timeoutMs`, or add an `any_failed` edge to handle the timeout.',
    ],
    child_failed: [
      'A child run failed or was cancelled, so the node failed.',
      'Read the run in `details.childRunId`; absorb the failure, or handle it with an `any_failed` edge.',
    ],
    fan_out_unsupported: [
      'The decision names several workers, but the dispatch node starts one at a time.',
      'Choose another `fanOutPolicy`, or name one worker in the decision.',
    ],
    no_pending_decision: [
      'The dispatch node found no decision to carry out.',
      'Put a supervisor node before it.',
    ],
    channel_schema_breaking_change: [
      'The channel has values that its new schema cannot read.',
      'List the old version in `compatibleWith`, or follow `details.migrationHint`.',
    ],
    connector_auth_expired: [
      'The connection to the outside service has to be authorized again.',
      'Authorize the connection, then retry the run.',
    ],
    conformance_test_failure: [
      'Intentional conformance failure',
      'Nothing is wrong: a `core.fail` node without its own code ran.',
    ],
  }),
  ...retriable(0, {
    node_timeout: [
      'The node exceeded its time limit.',
      'Raise the timeout in the settings of the node, or reduce its work.',
    ],
  }),
  ...retriable(503, {
    connector_unavailable: [
      'The provider of a connection did not issue a new token.',
      'The connection is kept; the next attempt of the node tries again. Set `maxRetries` on the node.',
    ],
  }),
};
