import { refused, retriable } from './entry.ts';

/** Refusals of packs: their manifest, archive, signature and requirements. */
export const PACK_ERRORS = {
  ...refused(400, {
    invalid_manifest: [
      'The manifest of the pack is not valid.',
      'Correct what `details.issues` points at in pack.json.',
    ],
    pack_kind_invalid: [
      'The manifest must declare the content of exactly one kind of pack.',
      'Keep the content that belongs to `kind` and move the rest to a pack of its own.',
    ],
    invalid_pack_name: [
      'The name of the pack is not a reverse-DNS name.',
      'Use a name such as `vendor.acme.tools`.',
    ],
    invalid_pack_scope: [
      'Packs of this scope cannot come from a registry.',
      'Publish under `core`, `vendor` or `community`; install `private` and `local` packs from a folder or an archive.',
    ],
    invalid_version: [
      'The version of the pack is not a semantic version.',
      'Use MAJOR.MINOR.PATCH, such as 1.4.2.',
    ],
    invalid_engines_range: [
      'The range of supported protocol versions is not valid.',
      'Write `engines.openwop` as a range such as `>=1.0.0 <2.0.0`.',
    ],
    schema_ref_missing: [
      'The manifest refers to a file that is not in the pack.',
      'Add the file to the pack, or correct the reference in `details.path`.',
    ],
    connector_action_unresolved: [
      'The connector names a node that the pack does not have.',
      'Name a `typeId` of `nodes` in every action and trigger of the connector.',
    ],
    connection_pack_credential_material: [
      'The connection pack has a field for a secret, and packs never carry secrets.',
      'Remove the field at `details.path`; operators give credentials to the host.',
    ],
    connection_pack_invalid_api_host: [
      'A host in `apiHosts` is not a bare lower-case host name.',
      'Write names such as `api.acme.example`, without port, address or wildcard.',
    ],
    prompt_template_invalid: [
      'A prompt template uses a placeholder that it does not declare.',
      'Declare the placeholder in `variables`.',
    ],
    tarball_gunzip_failed: [
      'The archive is not a complete gzip stream.',
      'Build the archive again and send it unchanged.',
    ],
    tarball_too_large: [
      'The unpacked archive exceeds the size limit.',
      'Leave out what the pack does not need, with .openwopignore.',
    ],
    tarball_manifest_missing: [
      'The archive has no pack.json at its root.',
      'Pack the folder that holds pack.json, not its parent.',
    ],
    tarball_manifest_too_large: [
      'The pack.json in the archive is too large.',
      'Move schemas and prompts into files of their own.',
    ],
    tarball_manifest_not_json: [
      'The pack.json in the archive is not JSON.',
      'Correct what `details` points at.',
    ],
    tarball_entry_missing: [
      'The archive lacks the file that `runtime.entry` names.',
      'Build the pack first, then pack it, or correct `runtime.entry`.',
    ],
    tarball_entry_too_large: [
      'A file in the archive is too large.',
      'Split or shrink the file in `details.path`.',
    ],
    tarball_path_traversal: [
      'A name in the archive leads out of the pack.',
      'Build the archive again with plain relative names.',
    ],
    tarball_tar_parse_failed: [
      'The archive is not a plain USTAR archive.',
      'Build the archive with `gantry pack build`.',
    ],
    unsafe_paths: [
      'The archive holds a link, a device or two names that are one file on some machines.',
      'Keep only regular files whose names differ by more than case.',
    ],
    pack_integrity_failure: [
      'The archive differs from the published one.',
      'Fetch it again; if the difference remains, do not use it and report it to the registry.',
    ],
    pack_integrity_mismatch: [
      'The archive differs from the one in the lockfile.',
      'Fetch it again, or create the lockfile again after you checked the difference.',
    ],
    pack_signature_invalid: [
      'The signature of the pack is not valid.',
      'Do not use this archive; fetch it again from its registry.',
    ],
    pack_signature_unverifiable: [
      'The pack has no signature that this host can verify.',
      'Add the key of the publisher, or choose a trust mode that does not need one.',
    ],
    pack_manifest_invalid: [
      'The manifest of a pack from a registry is not valid.',
      'Use another version of the pack, and report it to its publisher.',
    ],
    pack_lockfile_invalid: [
      'The lockfile is not a valid pack-lock.json.',
      'Correct what `details` points at, or create the lockfile again.',
    ],
    pack_peer_dependency_missing: [
      'The pack needs capabilities that this host does not offer.',
      'Enable what `details.missing` names, or use another host.',
    ],
    pack_peer_dependency_undefined: [
      'The pack needs a capability that the protocol reserves but does not define yet.',
      'Use a version of the pack that does not need it.',
    ],
    pack_runtime_requirement_unmet: [
      'The pack needs platform access that this host does not grant.',
      'Grant what `details.unmet` names if you trust the pack with it.',
    ],
    unsupported_runtime: [
      'This host does not run the language of the pack.',
      'Use a build of the pack for a language that the host advertises.',
    ],
    unsupported_pack_runtime: [
      'This host does not run WebAssembly packs.',
      'Use a host that advertises `nodePackRuntimes.wasm`.',
    ],
    unsupported_abi_version: [
      'The pack is built for a WebAssembly ABI that this host does not have.',
      'Build the pack for one of the versions in `details.supported`.',
    ],
    pack_load_failure: [
      'The workflow needs a pack that cannot be used here as requested.',
      'Install what `details` names, or correct the `packs` map of the workflow.',
    ],
    pack_engines_unmet: [
      'The pack is made for other versions of the protocol.',
      'Use a version of the pack whose `engines.openwop` includes this host.',
    ],
  }),
  ...refused(403, {
    pack_namespace_unauthorized: [
      'The key that signed the pack may not sign for this name.',
      'Take the pack from a registry that permits the key for its namespace.',
    ],
    pack_not_allowed: [
      'The policy of this host does not list the pack.',
      'Ask an operator to add the pack to the allow-list or to the pins.',
    ],
  }),
  ...refused(404, {
    pack_version_not_found: [
      'None of the registries has such a version of the pack.',
      'Request one of the versions in `details.available`, or add a registry that has it.',
    ],
  }),
  ...refused(409, {
    pack_trust_downgrade: [
      'The new version has a weaker proof of origin than the installed one.',
      'Keep the installed version, or uninstall it first if you accept the weaker proof.',
    ],
    pack_version_yanked: [
      'The publisher withdrew this version of the pack.',
      'Use another version, or pin this one exactly if you must.',
    ],
    pack_version_vulnerable: [
      'A security advisory covers this version of the pack.',
      'Use the version in which it is fixed, or pin this one exactly if you must.',
    ],
    pack_dependency_conflict: [
      'No version of a pack satisfies every request for it.',
      'Change one of the ranges in `details.conflictingRanges`, or pin the pack in `overrides`.',
    ],
    pack_dependency_cycle: [
      'Packs depend on each other in a cycle.',
      'Use a version of one of the packs in `details.cycle` that does not depend on the next one.',
    ],
    pack_lockfile_incomplete: [
      'The lockfile lacks a requested pack.',
      'Create the lockfile again, or remove the request for the pack.',
    ],
    pack_version_conflict: [
      'This version of the pack is installed with other content.',
      'Give the new content a version of its own, or install it as a development version.',
    ],
  }),
  ...retriable(502, {
    pack_fetch_failed: [
      'The archive of the pack could not be fetched.',
      'Try again; if it fails again, check the registry.',
    ],
  }),
  ...refused(503, {
    sandbox_unavailable: [
      'This machine cannot isolate pack code.',
      'Install bubblewrap or allow user namespaces, or set GANTRY_SANDBOX=permission-only if you trust every pack.',
    ],
  }),
  ...retriable(503, {
    pack_registry_unreachable: [
      'The answer of a pack registry is not valid.',
      'Check its address and that it is up, then try again.',
    ],
  }),
};
