import { refused, retriable } from './entry.ts';

/** Refusals for credentials and secrets. No text reveals whether a credential of another owner exists. */
export const CREDENTIAL_ERRORS = {
  ...refused(404, {
    credential_not_found: [
      'There is no credential with this ref.',
      'Check the ref with `gantry credentials ls`, or add it with `gantry credentials add`.',
    ],
  }),
  ...refused(403, {
    credential_forbidden: [
      'This credential may not be used here.',
      'Use a credential of your own, or ask its owner to share it.',
    ],
  }),
  ...refused(400, {
    credential_scope_unsupported: [
      'This host does not support this scope of credentials.',
      'Use a scope that the host advertises under `credentials.scopes`.',
    ],
  }),
  ...refused(422, {
    credential_unavailable: [
      'A credential that is needed cannot be used.',
      'See `details`; `gantry doctor` says what is missing.',
    ],
  }),
  ...refused(0, {
    secret_not_found: ['There is no secret with this ref.', 'Check the ref with `gantry credentials ls`.'],
    secret_access_denied: [
      'The run may not read this secret.',
      'Use a secret of the owner of the run, or have it shared with that owner.',
    ],
    secret_revoked: ['The secret was revoked.', 'Use another secret, or add it again with a new value.'],
    secret_expired: [
      'The secret has expired.',
      'Give it a new value with `gantry credentials rotate`, then run again.',
    ],
  }),
  ...retriable(0, {
    secret_quota_exhausted: [
      'Too many secrets were resolved in a short time.',
      'Resolve a secret once per call that needs it; run again later.',
    ],
  }),
};
