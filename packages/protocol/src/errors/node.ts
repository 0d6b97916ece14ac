import { refused, retriable } from './entry.ts';

/** Why a single node failed: pack code, a model or a replay. These only occur in runs. */
export const NODE_ERRORS = {
  ...refused(0, {
    sandbox_memory_exceeded: [
      'The pack exceeded its memory limit and was stopped.',
      'Process less data at once, or raise the memory limit of the pack.',
    ],
    sandbox_capability_denied: [
      'The pack used something that it was not granted.',
      'Grant it to the pack if you trust the pack, or use another.',
    ],
    sandbox_escape_attempt: [
      'The pack tried to escape its sandbox and was stopped.',
      'Remove the pack and report it to its publisher.',
    ],
    approval_pending: [
      'A person has to approve the call first.',
      'Answer the interrupt of the run; the node then runs again.',
    ],
    suspension_limit_exceeded: [
      'The pack suspended its node too often.',
      'Look for an endless loop in the code of the node; a loop in the workflow has no such limit.',
    ],
    envelope_invalid: [
      'The model answered with an envelope that is not valid.',
      'Check the envelope contract of the node, or use a stronger model.',
    ],
    envelope_payload_invalid: [
      'The model repeatedly answered with a payload that does not match its schema.',
      'Simplify the schema, or use a stronger model.',
    ],
    envelope_truncation_unrecoverable: [
      'The answer of the model was cut off every time.',
      'Raise `maxTokens`, or ask for less.',
    ],
    envelope_refusal: ['The model refused to answer.', 'Change the prompt, or use another model.'],
    envelope_refused_by_provider: [
      'The AI provider refused the request.',
      'Change the prompt, or use another provider.',
    ],
    replay_source_missing: [
      'The replayed run has no record of an effect, and a replay never repeats one.',
      'Fork with mode `branch` to repeat the effect.',
    ],
    replay_diverged_at_refusal: [
      'The model refused where it had answered before, or the other way round.',
      'Compare both runs; fork with mode `branch` to go on from here.',
    ],
    replay_memory_snapshot_unavailable: [
      'The memory that the run used is no longer stored.',
      'Fork with mode `branch` to run with the current memory.',
    ],
  }),
  ...retriable(0, {
    sandbox_timeout: [
      'The pack exceeded its time limit and was stopped.',
      'Reduce the work of one call, or raise the time limit.',
    ],
  }),
};
