import type { ErrorEntry } from './entry.ts';

/** Why a single node failed: pack code, a model or a replay. Only runs carry these. */
export const NODE_ERRORS = {
  sandbox_memory_exceeded: {
    status: 0,
    retriable: false,
    message: 'The pack used more memory than it may and was stopped.',
    next: 'Give the pack less to do at once, or raise its memory limit.',
  },
  sandbox_timeout: {
    status: 0,
    retriable: true,
    message: 'The pack did not answer in time and was stopped.',
    next: 'Make the work smaller, or raise its time limit.',
  },
  sandbox_capability_denied: {
    status: 0,
    retriable: false,
    message: 'The pack used something that it was not granted.',
    next: 'Grant it to the pack if you trust the pack, or use another.',
  },
  sandbox_escape_attempt: {
    status: 0,
    retriable: false,
    message: 'The pack tried to leave its sandbox and was stopped.',
    next: 'Remove the pack and tell its publisher.',
  },
  suspension_limit_exceeded: {
    status: 0,
    retriable: false,
    message: 'The pack suspended its node too often.',
    next: 'Look for a circle in the code of the node; a loop of the workflow has no such limit.',
  },
  envelope_invalid: {
    status: 0,
    retriable: false,
    message: 'The model answered with an envelope that is not valid.',
    next: 'Check the envelope contract of the node, or use a stronger model.',
  },
  envelope_payload_invalid: {
    status: 0,
    retriable: false,
    message: 'The model kept answering with a payload that does not match its schema.',
    next: 'Simplify the schema, or use a stronger model.',
  },
  envelope_truncation_unrecoverable: {
    status: 0,
    retriable: false,
    message: 'The answer of the model was cut off every time.',
    next: 'Raise `maxTokens`, or ask for less.',
  },
  envelope_refusal: {
    status: 0,
    retriable: false,
    message: 'The model refused to answer.',
    next: 'Change the prompt, or use another model.',
  },
  envelope_refused_by_provider: {
    status: 0,
    retriable: false,
    message: 'The AI provider refused the request.',
    next: 'Change the prompt, or use another provider.',
  },
  replay_source_missing: {
    status: 0,
    retriable: false,
    message: 'The replayed run has no record of an effect, and a replay never repeats one.',
    next: 'Fork with mode `branch` to let the effect happen again.',
  },
  replay_diverged_at_refusal: {
    status: 0,
    retriable: false,
    message: 'The model refused where it had answered before, or the other way round.',
    next: 'Compare both runs; fork with mode `branch` to go on from here.',
  },
  replay_memory_snapshot_unavailable: {
    status: 0,
    retriable: false,
    message: 'The memory that the run saw is no longer kept.',
    next: 'Fork with mode `branch` to run with the memory of today.',
  },
} as const satisfies Record<string, ErrorEntry>;
