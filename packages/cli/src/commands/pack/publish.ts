/** Gives a version to a registry. Everything an author can know is told before anything is sent. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { extractArchive, isRegistryAddress, keyIdOf } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { shellWord } from '../../values.ts';
import { printPermissions, printUndetermined, wishOf } from './approval.ts';
import { checkPack } from './check.ts';
import { FaultyPack, isError, printFaults } from './fault.ts';
import { signedPack } from './proof.ts';
import { type Publication, sendPack } from './publish-request.ts';
import { namedRegistries } from './registries.ts';
import { sizeOf } from './size.ts';
import { type BuiltPack, buildOf, packLabel } from './source.ts';

const FILES_SHOWN_MAX = 30;

export const publish: Action = {
  takes: '<pack> [--registry URL] [--signing-key FILE]',
  async act(call, word = '') {
    const registry = registryOf(call);
    const key = call.args.text('key') ?? call.io.env.GANTRY_REGISTRY_KEY;
    if (!key)
      throw new UsageError('Set GANTRY_REGISTRY_KEY to a key of the registry with the scope packs:publish.');
    const built = await checkedPack(call, word);
    const pack = call.args.text('signing-key') === undefined ? built : await signedPack(call, built);
    const publication = { registry, key, pack };
    if (!call.args.flag('json')) show(call, publication);
    const outcome = await sendPack(call, publication);
    tell(call, publication, outcome);
  },
};

/** Publishing cannot be undone for long, so where to is never guessed. */
function registryOf(call: Call): string {
  const [first] = namedRegistries(call);
  if (first === undefined)
    throw new UsageError('Say where to publish: --registry https://... or GANTRY_REGISTRY_URL.');
  if (isRegistryAddress(first)) return first.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new UsageError(`Packs are published to an address such as https://..., and ${first} is none.`);
}

/** As `pack check` judges it, warnings included. The bytes of an archive stay what they are. */
async function checkedPack(call: Call, word: string): Promise<BuiltPack> {
  const place = path.resolve(call.io.cwd, word);
  const found = await stat(place).catch(() => undefined);
  if (found?.isDirectory()) {
    await refuseFaults(call, place, place);
    return buildOf(call, word);
  }
  const built = await buildOf(call, word);
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-publish-'));
  try {
    const target = path.join(folder, 'pack');
    await extractArchive(built.bytes, { target, integrity: built.integrity });
    await refuseFaults(call, target, place);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return built;
}

/** `named` is what the author knows: the folder, or the archive that was unpacked into it. */
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
  const { requires, undetermined } = wishOf(manifest, files);
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
      requires: wishOf(manifest, files).requires,
    });
  } else if (outcome === 'unchanged') {
    call.io.stdout.write('It was published before with exactly these bytes. Nothing changed.\n');
  } else {
    const from = `--registry ${shellWord(registry)}`;
    call.io.stdout.write(`Published. Install it: gantry pack install ${name}@${version} ${from}\n`);
  }
}
