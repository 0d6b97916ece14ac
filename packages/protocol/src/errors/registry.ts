import { refused } from './entry.ts';

/** Refusals by a pack registry, apart from errors of the pack itself. */
export const REGISTRY_ERRORS = {
  ...refused(400, {
    invalid_body: [
      'The body is not the archive of a pack.',
      'Send the whole .tgz as `application/gzip` or `application/octet-stream`.',
    ],
    manifest_mismatch: [
      'The pack.json in the archive has another name or version than the address.',
      'Publish to the address of the manifest, or correct what `details` names in pack.json.',
    ],
    signature_invalid: [
      'The signature of the pack does not verify with the keys of its namespace.',
      'Sign with the current key of the keychain, and send the signing method that pack.json declares.',
    ],
    signature_required: [
      'This registry accepts only signed packs for this name.',
      'Claim its namespace with a key (gantry registry claim), sign the pack with it, then publish it again.',
    ],
    unpublish_window_expired: [
      'The version is too old to be unpublished: others may depend on it.',
      'Yank it if it is harmful, or deprecate it.',
    ],
  }),
  ...refused(404, {
    not_implemented: [
      'This host does not serve this operation of the protocol.',
      'Start the host with GANTRY_REGISTRY_SERVE=1, or ask a registry.',
    ],
    signature_not_available: [
      'There is no signature to serve for this version.',
      'Use a version that is published, signed and not yanked.',
    ],
  }),
};
