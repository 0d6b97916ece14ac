import type { ErrorEntry } from './entry.ts';

/** What workflows, channels, interrupts, webhooks and workspaces refuse. */
export const RESOURCE_ERRORS = {
  capability_required: {
    status: 422,
    retriable: false,
    message: 'The workflow uses something that this host does not offer.',
    next: 'Remove the node in `details`, or use a host that advertises `details.requiredCapability`.',
  },
  capability_not_provided: {
    status: 501,
    retriable: false,
    message: 'This host does not provide a capability that is needed.',
    next: 'See `details.capability`; use a host that advertises it.',
  },
  unknown_child_workflow: {
    status: 422,
    retriable: false,
    message: 'The workflow calls a child workflow that does not exist.',
    next: 'Register the child workflow first, or correct its id.',
  },
  engine_version_mismatch: {
    status: 409,
    retriable: false,
    message: 'The run was written by a newer engine than this one.',
    next: 'Upgrade this host to `details.persistedVersion` or later.',
  },
  residency_unavailable: {
    status: 422,
    retriable: false,
    message: 'This host cannot keep the run in the requested region.',
    next: 'Choose one of `details.availableRegions`, or a host in that region.',
  },
  webhook_url_rejected: {
    status: 400,
    retriable: false,
    message: 'Webhooks cannot be delivered to this address.',
    next: 'Use an `https` URL with a public address.',
  },
  subscription_not_found: {
    status: 404,
    retriable: false,
    message: 'There is no such webhook subscription.',
    next: 'Check the id; it may have been deleted already.',
  },
  schedule_horizon_exceeded: {
    status: 422,
    retriable: false,
    message: 'The schedule would fire later than this host plans ahead.',
    next: 'Choose a time within `details.maxFutureHorizon`.',
  },
  workspace_conflict: {
    status: 409,
    retriable: false,
    message: 'The workspace file has changed since you read it.',
    next: 'Read it again and send `If-Match` with `details.currentVersion`.',
  },
  workspace_too_large: {
    status: 413,
    retriable: false,
    message: 'The workspace file is too large.',
    next: 'Keep it under `details.maxFileBytes`.',
  },
  channel_access_denied: {
    status: 400,
    retriable: false,
    message: 'This node may not use the channel.',
    next: 'Add the node to the readers or writers of the channel.',
  },
  channel_cross_engine_write_forbidden: {
    status: 400,
    retriable: false,
    message: 'This channel takes no writes from another engine.',
    next: 'Write from the engine that owns the run, or use an append, counter, votes or feedback channel.',
  },
  interrupt_not_found: {
    status: 404,
    retriable: false,
    message: 'There is no such open interrupt.',
    next: 'Read the run to see whether and where it waits.',
  },
  interrupt_already_resolved: {
    status: 409,
    retriable: false,
    message: 'The interrupt was answered already.',
    next: 'Read the run to see the answer that won.',
  },
  interrupt_cancelled: {
    status: 422,
    retriable: false,
    message: 'The run was cancelled; its interrupt takes no answer.',
    next: 'Start or fork a run if the work is still wanted.',
  },
  interrupt_expired: {
    status: 410,
    retriable: false,
    message: 'The time to answer this interrupt is over.',
    next: 'Ask for a new link, or answer through the run if it still waits.',
  },
  interrupt_gone: {
    status: 410,
    retriable: false,
    message: 'The interrupt ended together with its parent run.',
    next: 'Look at the parent run for what happened.',
  },
  correlation_mismatch: {
    status: 422,
    retriable: false,
    message: 'This event does not belong to the interrupt, which still waits.',
    next: 'Send the values that the interrupt lists under `data.correlation`.',
  },
  INVALID_RESUME_VALUE: {
    status: 400,
    retriable: false,
    message: 'The gate does not accept this answer and still waits.',
    next: 'Send a `resumeValue` that matches the schema of the gate.',
  },
} as const satisfies Record<string, ErrorEntry>;
