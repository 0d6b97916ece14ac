import { refused } from './entry.ts';

/** Refusals by keys, roles and policies. */
export const ACCESS_ERRORS = {
  ...refused(400, {
    credential_required: [
      'A credential that this work needs was not given.',
      'Name a credential for `details.requirement`.',
    ],
  }),
  ...refused(401, {
    unauthenticated: [
      'No valid API key was sent.',
      'Send `Authorization: Bearer <key>` with a key of this host.',
    ],
    key_expired: ['This API key has expired.', 'Use a current key, or ask an administrator for a new one.'],
    key_revoked: ['This API key was revoked.', 'Use a current key, or ask an administrator for a new one.'],
  }),
  ...refused(403, {
    forbidden: ['This key may not do that.', 'Use a key with the scope named in `details.scopeRequired`.'],
    run_forbidden: [
      'This run belongs to another workspace.',
      'Use a key of the workspace that owns the run.',
    ],
    workspace_membership_required: [
      'Only members of the workspace may do that.',
      'Ask a workspace administrator to add you.',
    ],
    mock_provider_forbidden: [
      'Mock providers only work with test keys.',
      'Use a test key, or leave out `configurable.mockProvider`.',
    ],
    force_engine_version_forbidden: [
      'Only test keys may force an engine version.',
      'Use a test key, or leave out the `X-Force-Engine-Version` header.',
    ],
    provider_policy_denied: [
      'The AI provider policy does not allow this call.',
      'See `details.reason`; choose an allowed provider or model, or bring your own key.',
    ],
  }),
};
