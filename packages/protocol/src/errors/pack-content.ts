import { refused } from './entry.ts';

/** Errors of providers, artifact types and prompts from packs. */
export const PACK_CONTENT_ERRORS = {
  ...refused(400, {
    connection_provider_unresolved: [
      'No installed pack describes this provider.',
      'Install a connection pack whose `provider.id` is the one in `details.provider`.',
    ],
    oauth_provider_unsupported: [
      'This host cannot get tokens from the provider.',
      'See `details.provider`; the operator has to configure a client: `gantry connections configure PROVIDER`.',
    ],
    oauth_scope_unsupported: [
      'The provider does not have a requested scope.',
      'Request scopes that its connection pack lists; see `details.scopes`.',
    ],
    pack_validation_failed: [
      'A schema of the pack cannot be used.',
      'Make the schema at `details.path` smaller or simpler, then build the pack again.',
    ],
    prompt_ref_invalid: [
      'This is not a valid prompt reference.',
      'Write `prompt:<templateId>` or `prompt:<templateId>@<version>`, or an object with `templateId`.',
    ],
    prompt_ref_ambiguous: [
      'Several packs have a prompt of this name.',
      'Name one of the packs in `details.libraries` as `libraryId`.',
    ],
    prompt_variable_unresolved: [
      'A variable that the prompt requires has no value.',
      'Give a value for every variable in `details.variables`.',
    ],
    prompt_variable_type_mismatch: [
      'The value of a prompt variable is not of the declared type.',
      'Give a value of the type in `details.expected` for `details.variable`.',
    ],
  }),
  ...refused(404, {
    prompt_not_found: [
      'There is no prompt with this id.',
      'Look at `GET /v1/prompts`; create it, or install a pack that brings it.',
    ],
    prompt_version_pinned: [
      'The prompt does not have the version that is named.',
      'Name one of `details.versions`, or leave the version out for the latest.',
    ],
  }),
  ...refused(409, {
    connection_provider_conflict: [
      'Two packs describe this provider, and neither takes precedence.',
      'Uninstall one of the packs in `details.packs`, or install a newer version of one.',
    ],
  }),
};
