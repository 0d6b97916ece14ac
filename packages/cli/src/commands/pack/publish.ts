/** Publishes a version to a registry. The pack is checked before anything is sent. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { extractArchive, keyIdOf } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { printJson } from '../../output.ts';
import { printable, sizeOf } from '../../style.ts';
import { shellWord } from '../../values.ts';
import { keyOf, registryOf, sendToRegistry } from '../registry/request.ts';
import { printPermissions, printUndetermined, wishOf } from './approval.ts';
import { checkPack } from './check.ts';
import { FaultyPack, isError, printFaults } from './fault.ts';
import { signedPack } from './proof.ts';
import { type BuiltPack, buildOf, packLabel } from './source.ts';

const FILES_SHOWN_MAX = 30;
const TIMEOUT_MS = 120_000;
const RETRY = 'Try again; publishing the same archive twice is harmless.';
const RAISE = 'A version is published once. Raise "version" in pack.json, and publish that.';

const NEXT: Readonly<Record<string, string>> = {
  forbidden:
    'Use a key with packs:publish that belongs to the owner of the namespace, and claim the namespace first: gantry registry claim',
  signature_required: 'Sign it: add --signing-key FILE. Make a key: gantry pack keygen acme-2026',
  signature_invalid:
    "Sign with the key that the registry knows for this namespace: --signing-key FILE, named after its key id. For a new namespace: gantry registry claim 'vendor.acme.*' --public-key FILE",
  conflict: RAISE,
  version_conflict: RAISE,
  pack_integrity_failure: 'The archive changed on its way. Publish it again.',
  payload_too_large: 'Leave out what the pack does not need, with .openwopignore.',
  service_unavailable: RETRY,
  storage_unavailable: RETRY,
  rate_limited: RETRY,
  internal_error: `${RETRY} If it fails again, report it to the operator of the registry.`,
};

interface Publication {
  readonly registry: string;
  readonly pack: BuiltPack;
}

export const publish: Action = {
  takes: '<pack> [--registry URL] [--signing-key FILE]',
  async act(call, word = '') {
    // Fails before anything is built if no key is set
    keyOf(call);
    const registry = registryOf(call);
    const built = await checkedPack(call, word);
    const pack = call.args.text('signing-key') === undefined ? built : await signedPack(call, built);
    const publication = { registry, pack };
    if (!call.args.flag('json')) show(call, publication);
    const outcome = await sendPack(call, pack);
    tell(call, publication, outcome);
  },
};

/** Sending the same archive twice is harmless. */
async function sendPack(call: Call, pack: BuiltPack): Promise<'created' | 'unchanged'> {
  const { manifest, bytes, integrity } = pack;
  const [name, version] = [manifest.name, manifest.version].map(encodeURIComponent);
  const { status } = await sendToRegistry(call, {
    method: 'PUT',
    path: `/v1/packs/${name}/-/${version}.tgz`,
    body: bytes,
    headers: {
      'content-type': 'application/gzip',
      'x-pack-sha256': integrity,
      'x-pack-signing-method': methodOf(pack),
      'x-pack-build': buildFacts(call.io.env),
    },
    timeoutMs: TIMEOUT_MS,
    next: NEXT,
  });
  return status === 201 ? 'created' : 'unchanged';
}

/** The header has no value for `ed25519`: both are signatures made manually with a key. */
function methodOf({ manifest: { signing } }: BuiltPack): string {
  if (signing === undefined) return 'none';
  return signing.method === 'sigstore' ? 'sigstore' : 'manual';
}

/** The source and tools of the build, for the record of the registry. Headers are ASCII. */
function buildFacts(env: Call['io']['env']): string {
  const repository = env.GITHUB_REPOSITORY ?? env.CI_PROJECT_URL;
  const commit = env.GITHUB_SHA ?? env.CI_COMMIT_SHA;
  const build = {
    tool: 'gantry',
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    ...(repository !== undefined && { repository: repository.slice(0, 256) }),
    ...(commit !== undefined && { commit: commit.slice(0, 64) }),
  };
  return JSON.stringify(build).replace(/[^\x20-\x7e]/g, '?');
}

/** Checked like `pack check`, including warnings. The bytes of an archive are not changed. */
async function checkedPack(call: Call, word: string): Promise<BuiltPack> {
  const location = path.resolve(call.io.cwd, word);
  const found = await stat(location).catch(() => undefined);
  if (found?.isDirectory()) {
    await refuseFaults(call, location, location);
    return buildOf(call, word);
  }
  const built = await buildOf(call, word);
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-publish-'));
  try {
    const target = path.join(folder, 'pack');
    await extractArchive(built.bytes, { target, integrity: built.integrity });
    await refuseFaults(call, target, location);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return built;
}

/** `named` is the name that the author knows: the folder, or the archive that was unpacked into it. */
async function refuseFaults(call: Call, folder: string, named: string): Promise<void> {
  const { faults } = await checkPack(folder);
  printFaults(call, named, faults);
  if (faults.some(isError)) throw new FaultyPack();
}

function show(call: Call, { registry, pack }: Publication): void {
  const { io } = call;
  const { manifest, files, bytes, integrity } = pack;
  const line = (text: string) => io.stdout.write(`${printable(text)}\n`);
  const count = `${files.size} file${files.size === 1 ? '' : 's'}`;
  line(`${packLabel(manifest)}  ${manifest.kind}, ${count}, ${sizeOf(bytes.length)}, ${signatureOf(pack)}`);
  const names = [...files.keys()].sort();
  const shown = names.slice(0, FILES_SHOWN_MAX);
  const width = Math.max(...shown.map((name) => name.length));
  for (const name of shown) line(`  ${name.padEnd(width)}  ${sizeOf(files.get(name)?.length ?? 0)}`);
  if (names.length > shown.length) line(`  and ${names.length - shown.length} more`);
  const { requires, undetermined } = wishOf({ manifest, files });
  line(requires.length === 0 ? 'It asks for no permission.' : 'It asks for:');
  if (requires.length > 0) printPermissions(call, requires);
  printUndetermined(call, undetermined);
  line(integrity);
  line(`Publishing to ${registry}`);
}

function signatureOf({ manifest: { signing } }: Pick<BuiltPack, 'manifest'>): string {
  if (signing === undefined) return 'not signed';
  const ref = signing.keyId ?? signing.publicKeyRef;
  return ref === undefined ? `signed (${signing.method ?? 'manual'})` : `signed with ${keyIdOf(ref)}`;
}

function tell(call: Call, { registry, pack }: Publication, outcome: 'created' | 'unchanged'): void {
  const { manifest, bytes, integrity, files } = pack;
  const { name, version } = manifest;
  if (call.args.flag('json')) {
    const facts = { outcome, registry, name, version, integrity, bytes: bytes.length };
    printJson(call, {
      ...facts,
      files: [...files.keys()].sort(),
      requires: wishOf({ manifest, files }).requires,
    });
  } else if (outcome === 'unchanged') {
    call.io.stdout.write('It was published before with exactly these bytes. Nothing changed.\n');
  } else {
    const from = `--registry ${shellWord(registry)}`;
    call.io.stdout.write(`Published. Install it: gantry pack install ${name}@${version} ${from}\n`);
  }
}
