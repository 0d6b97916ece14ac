import type { ErrorEntry } from './entry.ts';

/** What goes wrong with providers, artifact types and prompts that packs bring. */
export const PACK_CONTENT_ERRORS = {
  connection_provider_unresolved: {
    status: 400,
    retriable: false,
    message: 'No installed pack describes this provider.',
    next: 'Install a connection pack whose `provider.id` is the one in `details.provider`.',
  },
  connection_provider_conflict: {
    status: 409,
    retriable: false,
    message: 'The provider is described twice, and neither description comes before the other.',
    next: 'Uninstall one of the packs in `details.packs`, or install a version that is not older.',
  },
  pack_validation_failed: {
    status: 400,
    retriable: false,
    message: 'A schema of the pack cannot be used.',
    next: 'Make the schema at `details.path` smaller or simpler, then build the pack again.',
  },
  prompt_ref_invalid: {
    status: 400,
    retriable: false,
    message: 'This is no reference to a prompt.',
    next: 'Write `prompt:<templateId>` or `prompt:<templateId>@<version>`, or an object with `templateId`.',
  },
  prompt_ref_ambiguous: {
    status: 400,
    retriable: false,
    message: 'Several packs have a prompt of this name.',
    next: 'Name one of the packs in `details.libraries` as `libraryId`.',
  },
  prompt_variable_unresolved: {
    status: 400,
    retriable: false,
    message: 'A variable that the prompt requires has no value.',
    next: 'Give a value for every variable in `details.variables`.',
  },
  prompt_variable_type_mismatch: {
    status: 400,
    retriable: false,
    message: 'The value of a prompt variable is not of the declared type.',
    next: 'Give a value of the type in `details.expected` for `details.variable`.',
  },
} as const satisfies Record<string, ErrorEntry>;
