/** Keys, signatures and their verification; needs no host. */
import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  checkFiles,
  judgeSignature,
  keyIdOf,
  readArchive,
  readManifest,
  readTrustFile,
  type SignatureCovers,
  type SignatureJudgement,
  type TrustedKey,
  type TrustFile,
  TrustFileError,
  type WrittenArchive,
} from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { writeBuilt } from './author.ts';
import { FaultyPack } from './fault.ts';
import { type SigningKey, signFiles } from './signing.ts';
import { type BuiltPack, buildOf, packLabel } from './source.ts';

const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const keygen: Action = {
  takes: '<keyId>',
  async act({ io }, keyId = '') {
    if (!KEY_ID.test(keyId)) throw new UsageError(`"${keyId}" is not a key id, such as acme-2026.`);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const write = (ending: string, text: string, mode: number) =>
      writeFile(path.resolve(io.cwd, `${keyId}.${ending}`), text, { mode, flag: 'wx' }).catch((error) => {
        throw new UsageError(
          `Cannot write ${keyId}.${ending} (${error.code}). Existing keys are never overwritten.`,
        );
      });
    await write('pem', privateKey, 0o600);
    await write('pub', publicKey, 0o644);
    io.stdout.write(`${keyId}.pem  signs; keep it secret and out of the pack\n${keyId}.pub  verifies\n`);
  },
};

const readKey = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error) => {
    throw new UsageError(`Cannot read the key file ${file} (${error.code}).`);
  });

export const sign: Action = {
  takes: '<pack> --signing-key FILE',
  act: async (call, word = '') => writeBuilt(call, await signedPack(call, await buildOf(call, word))),
};

/** Signed with the key of `--signing-key`; the same files and key give the same bytes. */
export async function signedPack(call: Call, { files }: BuiltPack): Promise<BuiltPack> {
  const file = call.args.text('signing-key');
  if (file === undefined) {
    throw new UsageError(
      'Name the signing key with --signing-key FILE. To create one: gantry pack keygen acme-2026',
    );
  }
  const pem = await readKey(path.resolve(call.io.cwd, file));
  const { bytes, integrity } = await signed(files, { file, pem });
  const archive = await readArchive(bytes);
  const reading = readManifest(archive.manifestBytes);
  if (reading.kind === 'refused') throw new Error('a sound manifest is refused once it is signed');
  return { manifest: reading.manifest, bytes, integrity, files: archive.files };
}

async function signed(files: BuiltPack['files'], key: SigningKey): Promise<WrittenArchive> {
  try {
    return await signFiles(files, key);
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_OSSL'))
      throw new UsageError(`${key.file} is not a private key in PEM. Make one: gantry pack keygen acme-2026`);
    throw error;
  }
}

/** A key on the command line is trusted for this pack. */
async function keysAt(location: string, packName: string): Promise<TrustedKey[]> {
  const found = await stat(location).catch(() => undefined);
  if (!found) throw new UsageError(`There is no ${location}. --keys takes a public key or a folder of them.`);
  const names = found.isDirectory()
    ? (await readdir(location)).map((name) => path.join(location, name))
    : [location];
  const files = names.filter((name) => name.endsWith('.pub') || name === location);
  return Promise.all(
    files.map(async (file) => ({
      keyId: keyIdOf(file.replaceAll(path.sep, '/')),
      publicKey: await readKey(file),
      permittedNamespaces: [packName],
      status: 'active' as const,
    })),
  );
}

const SIGNATURE_TEXT: Readonly<Record<SignatureJudgement['state'], string>> = {
  unsigned: 'is missing',
  unverifiable: 'cannot be verified',
  invalid: 'is wrong',
  unauthorized: 'is by a key that may not sign this pack',
  verified: 'is right',
};

const COVERS_TEXT: Readonly<Record<SignatureCovers, string>> = {
  manifest: 'pack.json, the integrity covers the rest',
  files: 'all files',
  archive: 'the archive',
};

function signatureText(signature: SignatureJudgement): string {
  const text = SIGNATURE_TEXT[signature.state];
  if (signature.state === 'unsigned') return text;
  if (signature.state === 'unverifiable')
    return `${text}: ${signature.message} Pass the key with --keys, or a trust file with --trust.`;
  if (signature.state !== 'verified') return `${text}: ${signature.message}`;
  return `${text}, by ${signature.signedBy}; it covers ${COVERS_TEXT[signature.covers]}`;
}

/** `--trust FILE`: the trust file of a host, for verification here. */
async function trustFileOf({ args, io }: Pick<Call, 'args' | 'io'>): Promise<TrustFile | undefined> {
  const file = args.text('trust');
  if (file === undefined) return;
  return readTrustFile(path.resolve(io.cwd, file)).catch((error: unknown) => {
    throw error instanceof TrustFileError ? new UsageError(`--trust: ${error.message}`) : error;
  });
}

async function judge(call: Call, { manifest, bytes, files }: BuiltPack): Promise<SignatureJudgement> {
  const { args, io } = call;
  const location = args.text('keys');
  const file = await trustFileOf(call);
  const named = location === undefined ? [] : await keysAt(path.resolve(io.cwd, location), manifest.name);
  const manifestBytes = files.get('pack.json') ?? new Uint8Array();
  const { name, version, signing } = manifest;
  const pack = { name, version, signing, archive: bytes, manifestBytes, files };
  const { keys = [], sigstore } = file ?? {};
  const trust = { keys: [...named, ...keys], now: io.now(), ...(sigstore && { sigstore }) };
  return judgeSignature(pack, trust);
}

export const verify: Action = {
  takes: '<pack> [--keys FILE|DIR] [--trust FILE] [--integrity SRI]',
  async act(call, word = '') {
    const { args, io } = call;
    const built = await buildOf(call, word);
    const signature = await judge(call, built);
    const missing = checkFiles(built.manifest, built.files).map(({ file, message }) => `${file}: ${message}`);
    const wanted = args.text('integrity');
    const isWanted = wanted === undefined || wanted === built.integrity;
    const wantsProof = args.text('keys') !== undefined || args.text('trust') !== undefined;
    const proved = signature.state === 'verified' || (signature.state === 'unsigned' && !wantsProof);
    if (args.flag('json')) {
      printJson(call, { pack: packLabel(built.manifest), integrity: built.integrity, signature, missing });
    } else {
      io.stdout.write(`${packLabel(built.manifest)}\nintegrity  ${built.integrity}\n`);
      if (!isWanted) io.stdout.write(`           differs from ${printable(wanted)}\n`);
      io.stdout.write(`signature  ${printable(signatureText(signature))}\n`);
      for (const problem of missing) io.stdout.write(`file       ${printable(problem)}\n`);
    }
    if (!isWanted || !proved || missing.length > 0) throw new FaultyPack();
  },
};
