import type { ErrorEntry } from './entry.ts';

/** What a pack registry refuses, beside what is wrong with the pack itself. */
export const REGISTRY_ERRORS = {
  not_implemented: {
    status: 404,
    retriable: false,
    message: 'The protocol has this operation; this host does not serve it.',
    next: 'Start the host with GANTRY_REGISTRY_SERVE=1, or ask a registry.',
  },
  invalid_body: {
    status: 400,
    retriable: false,
    message: 'The body is not the archive of a pack.',
    next: 'Send the whole .tgz as `application/gzip` or `application/octet-stream`.',
  },
  manifest_mismatch: {
    status: 400,
    retriable: false,
    message: 'The pack.json in the archive has another name or version than the address.',
    next: 'Publish to the address of the manifest, or correct what `details` names in pack.json.',
  },
  signature_invalid: {
    status: 400,
    retriable: false,
    message: 'The signature of the pack does not verify with the keys of its namespace.',
    next: 'Sign with the current key of the keychain, and send the signing method that pack.json declares.',
  },
  signature_required: {
    status: 400,
    retriable: false,
    message: 'This registry takes only signed packs for this name.',
    next: 'Sign the pack with the key of its namespace, then publish it again.',
  },
  signature_not_available: {
    status: 404,
    retriable: false,
    message: 'There is no signature to serve for this version.',
    next: 'Use a version that is published, signed and not yanked.',
  },
  unpublish_window_expired: {
    status: 400,
    retriable: false,
    message: 'The version is too old to be unpublished: others may depend on it.',
    next: 'Yank it if it is harmful, or deprecate it.',
  },
} as const satisfies Record<string, ErrorEntry>;
