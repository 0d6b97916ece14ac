import { refused } from './entry.ts';

/** Refusals for workflows, channels, interrupts, webhooks and workspaces. */
export const RESOURCE_ERRORS = {
  ...refused(400, {
    webhook_url_rejected: [
      'Webhooks cannot be delivered to this address.',
      'Use an `https` URL with a public address.',
    ],
    channel_access_denied: [
      'This node may not use the channel.',
      'Add the node to the readers or writers of the channel.',
    ],
    channel_cross_engine_write_forbidden: [
      'This channel does not accept writes from another engine.',
      'Write from the engine that owns the run, or use an append, counter, votes or feedback channel.',
    ],
    INVALID_RESUME_VALUE: [
      'The gate rejected this answer and is still open.',
      'Send a `resumeValue` that matches the schema of the gate.',
    ],
  }),
  ...refused(404, {
    subscription_not_found: [
      'There is no such webhook subscription.',
      'Check the id; it may have been deleted already.',
    ],
    interrupt_not_found: [
      'There is no such open interrupt.',
      'Read the run to see whether and where it waits.',
    ],
  }),
  ...refused(409, {
    artifact_conflict: [
      'The artifact, or its working copy, has changed meanwhile; nothing was stored.',
      'Read the working copy, then write it with its `version`.',
    ],
    engine_version_mismatch: [
      'The run was written by a newer engine than this one.',
      'Upgrade this host to `details.persistedVersion` or later.',
    ],
    workspace_conflict: [
      'The workspace file has changed since you read it.',
      'Read it again and send `If-Match` with `details.currentVersion`.',
    ],
    interrupt_already_resolved: [
      'The interrupt was answered already.',
      'Read the run to see the answer that won.',
    ],
  }),
  ...refused(410, {
    interrupt_expired: [
      'This interrupt has expired.',
      'Ask for a new link, or answer through the run if it still waits.',
    ],
    interrupt_gone: [
      'The interrupt ended together with its parent run.',
      'Look at the parent run for what happened.',
    ],
  }),
  ...refused(413, {
    workspace_too_large: ['The workspace file is too large.', 'Keep it under `details.maxFileBytes`.'],
  }),
  ...refused(422, {
    capability_required: [
      'The workflow uses something that this host does not offer.',
      'Remove the node in `details`, or use a host that advertises `details.requiredCapability`.',
    ],
    unknown_child_workflow: [
      'The workflow calls a child workflow that does not exist.',
      'Register the child workflow first, or correct its id.',
    ],
    residency_unavailable: [
      'This host cannot keep the run in the requested region.',
      'Choose one of `details.availableRegions`, or a host in that region.',
    ],
    schedule_horizon_exceeded: [
      'The schedule fires beyond the planning horizon of this host.',
      'Choose a time within `details.maxFutureHorizon`.',
    ],
    interrupt_cancelled: [
      'The run was cancelled; its interrupt accepts no answer.',
      'Start or fork a run if the work is still wanted.',
    ],
    correlation_mismatch: [
      'This event does not match the interrupt, which is still open.',
      'Send the values that the interrupt lists under `data.correlation`.',
    ],
  }),
  ...refused(501, {
    capability_not_provided: [
      'This host does not provide a required capability.',
      'See `details.capability`; use a host that advertises it.',
    ],
  }),
};
