/** The trust file: the trusted signers and registries. A file with any error is not used at all. */
import { readFile } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/schema';
import type { Frozen } from '../json.ts';
import { Data, Label, list, some, strict, text } from '../manifest/fields.ts';
import { type ManifestIssue, schemaSentence } from '../manifest/issue.ts';
import { type JsonSource, readJsonSource } from '../manifest/json-source.ts';
import { RUNTIME_REQUIREMENTS } from '../manifest/node.ts';
import { readPublicKey, TrustedKey } from './keys.ts';
import { POLICIES, type TrustPolicy } from './policy.ts';

const BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 32;
const ISSUES_MAX = 10;

/** Starting programs is always refused, whatever is granted. */
const GRANTABLE = RUNTIME_REQUIREMENTS.filter((id) => id !== 'subprocess');

const Keys = list(TrustedKey, 1_000);

/** Only the mode is checked here, so that later errors are about the intended mode. */
const Policy = Type.Unsafe<TrustPolicy>(Type.Object({ mode: Type.Enum(Object.keys(POLICIES)) }));

const Registry = strict({ url: text(2048, 1), 'policy?': Policy, 'keys?': Keys });
/** The identity that must have signed, exactly as its issuer writes it, and the names that it may sign. */
const Signer = strict({
  issuer: Label,
  subject: Label,
  permittedNamespaces: TrustedKey.properties.permittedNamespaces,
});
const Sigstore = strict({
  /** `trusted_root.json` from the operator; nothing is fetched. */
  trustedRoot: Type.Unsafe<object>(Data),
  signers: some(Signer, 200),
});
export type SigstoreTrust = Frozen<Static<typeof Sigstore>>;
const Grants = Type.Record(Label, list(Type.Enum([...GRANTABLE]), 50));

const TrustFile = strict({
  policy: Policy,
  'keys?': Keys,
  'registries?': list(Registry, 20),
  'sigstore?': Sigstore,
  'grants?': Grants,
});
export type TrustFile = Static<typeof TrustFile>;

/** The file cannot be used. The message has the position and the reason. */
export class TrustFileError extends Error {}

type Issue = Pick<ManifestIssue, 'path' | 'message'>;

/** `registries` are the configured ones; if absent, the file may name any. */
export async function readTrustFile(path: string, registries?: readonly string[]): Promise<TrustFile> {
  const source = readJsonSource(await textOf(path), { depthMax: DEPTH_MAX });
  if (source.kind === 'broken') {
    const { line, column } = source.position;
    throw new TrustFileError(`${path}:${line}:${column}: ${source.message}`);
  }
  const { value } = source;
  const trustFile = Compile(TrustFile);
  if (!trustFile.Check(value)) throw refused(path, source, issuesOf(trustFile, value));
  const issues = [...placeIssues(value), ...registryIssues(value, registries)];
  if (issues.length > 0) throw refused(path, source, issues);
  return value;
}

async function textOf(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new TrustFileError(`${path} cannot be read: ${reason}.`);
  });
  if (bytes.length > BYTES_MAX) throw new TrustFileError(`${path} is larger than ${BYTES_MAX} bytes.`);
  return bytes.toString('utf8');
}

function issuesOf(schema: Pick<ReturnType<typeof Compile>, 'Errors'>, value: unknown, at = ''): Issue[] {
  return schema.Errors(value)[1].flatMap((error) => {
    const message = schemaSentence(error);
    return message === undefined ? [] : [{ path: `${at}${error.instancePath}`, message }];
  });
}

/** Checks policies and keys, at the top of the file and in its registries. */
function placeIssues(file: TrustFile): Issue[] {
  const registries = file.registries?.map((registry, index) => ({ ...registry, at: `/registries/${index}` }));
  return [{ ...file, at: '' }, ...(registries ?? [])].flatMap(({ at, policy, keys = [] }) => [
    ...(policy ? issuesOf(Compile(POLICIES[policy.mode]), policy, `${at}/policy`) : []),
    ...keys.flatMap((key, position) => keyIssues(key, `${at}/keys/${position}`)),
  ]);
}

function keyIssues({ publicKey, validFrom, validUntil }: TrustedKey, at: string): Issue[] {
  const times = Object.entries({ validFrom, validUntil }).flatMap(([name, time]) =>
    time !== undefined && Number.isNaN(Date.parse(time))
      ? [{ path: `${at}/${name}`, message: 'It is not a time such as 2026-01-31T00:00:00Z.' }]
      : [],
  );
  const message = 'It is not an Ed25519 key in PEM or base64 (SPKI).';
  return readPublicKey(publicKey) ? times : [{ path: `${at}/publicKey`, message }, ...times];
}

/** A registry in two spellings would silently be checked by the wrong policy. */
function registryIssues({ registries = [] }: TrustFile, configured?: readonly string[]): Issue[] {
  return registries.flatMap(({ url }, index) => {
    const at = `/registries/${index}/url`;
    if (registries.slice(0, index).some((earlier) => sameRegistry(earlier.url, url)))
      return [{ path: at, message: `${url} is listed twice.` }];
    if (!configured || configured.some((one) => sameRegistry(one, url))) return [];
    return [{ path: at, message: `${url} is not one of the registries in GANTRY_REGISTRY_URL.` }];
  });
}

function refused(
  path: string,
  source: JsonSource & { kind: 'json' },
  issues: readonly Issue[],
): TrustFileError {
  const lines = issues.slice(0, ISSUES_MAX).map((issue) => {
    const { line, column } = source.positionOf(issue.path);
    return `${path}:${line}:${column}: ${issue.path || '/'}: ${issue.message}`;
  });
  return new TrustFileError(`the trust file is not valid.\n${lines.join('\n')}`);
}

export const sameRegistry = (left: string, right: string): boolean =>
  left.replace(/\/+$/, '') === right.replace(/\/+$/, '');
