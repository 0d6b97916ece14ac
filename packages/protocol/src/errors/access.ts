import type { ErrorEntry } from './entry.ts';

/** Who is asking, and what that key, role or policy allows. */
export const ACCESS_ERRORS = {
  unauthenticated: {
    status: 401,
    retriable: false,
    message: 'No valid API key was sent.',
    next: 'Send `Authorization: Bearer <key>` with a key of this host.',
  },
  key_expired: {
    status: 401,
    retriable: false,
    message: 'This API key has expired.',
    next: 'Use a current key, or ask an administrator for a new one.',
  },
  key_revoked: {
    status: 401,
    retriable: false,
    message: 'This API key was revoked.',
    next: 'Use a current key, or ask an administrator for a new one.',
  },
  forbidden: {
    status: 403,
    retriable: false,
    message: 'This key may not do that.',
    next: 'Use a key with the scope named in `details.scopeRequired`.',
  },
  run_forbidden: {
    status: 403,
    retriable: false,
    message: 'This run belongs to another workspace.',
    next: 'Use a key of the workspace that owns the run.',
  },
  workspace_membership_required: {
    status: 403,
    retriable: false,
    message: 'Only members of the workspace may do that.',
    next: 'Ask a workspace administrator to add you.',
  },
  mock_provider_forbidden: {
    status: 403,
    retriable: false,
    message: 'Mock providers only work with test keys.',
    next: 'Use a test key, or leave out `configurable.mockProvider`.',
  },
  force_engine_version_forbidden: {
    status: 403,
    retriable: false,
    message: 'Only test keys may force an engine version.',
    next: 'Use a test key, or leave out the `X-Force-Engine-Version` header.',
  },
  provider_policy_denied: {
    status: 403,
    retriable: false,
    message: 'The AI provider policy does not allow this call.',
    next: 'See `details.reason`; choose an allowed provider or model, or bring your own key.',
  },
  credential_required: {
    status: 400,
    retriable: false,
    message: 'A credential that this work needs was not given.',
    next: 'Name a credential for `details.requirement`.',
  },
  credential_forbidden: {
    status: 403,
    retriable: false,
    message: 'This credential may not be used here.',
    next: 'Use a credential that you own, with a provider that accepts your own keys.',
  },
  credential_unavailable: {
    status: 422,
    retriable: false,
    message: 'This host cannot provide the credential that is needed.',
    next: 'Ask the operator to enable `details.capability`, or use another host.',
  },
  credential_not_found: {
    status: 404,
    retriable: false,
    message: 'There is no such credential.',
    next: 'Create the credential, or correct the reference.',
  },
  credential_scope_unsupported: {
    status: 400,
    retriable: false,
    message: 'This host does not keep credentials of that scope.',
    next: 'Use one of the scopes in `secrets.scopes` of the discovery document.',
  },
} as const satisfies Record<string, ErrorEntry>;
