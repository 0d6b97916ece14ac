import { type ErrorCode, isKnownCapability, type JsonObject } from '@gantry/protocol';
import semver from 'semver';
import { isFilePath, normalizePath } from '../archive/path.ts';
import { nameProblem, readWish, VALUE_PROBLEM } from '../install/peer-dependencies.ts';
import { isObject, jsonOf, own, utf8Of } from '../json.ts';
import { Findings, type Member, member, members, refuseDuplicates, text } from './issue.ts';
import { pointer } from './json-source.ts';
import { isPackKind, kindOfContent, PACK_KINDS, type PackKind, type PackManifest } from './kinds.ts';
import {
  checkArtifactTypes,
  checkCards,
  checkChains,
  checkForms,
  checkPlugins,
  checkPrompts,
  checkProvider,
} from './rules-declarative.ts';
import { checkNodes } from './rules-node.ts';

/**
 * What a schema cannot say. The rules also read files that the schema refuses, so that an author hears of
 * everything at once.
 */
export function checkRules(manifest: JsonObject, kind: PackKind): Findings {
  const findings = new Findings();
  const root: Member = { path: '', value: manifest };
  checkContent(root, kind, findings);
  checkRanges(root, findings);
  checkPeers(root, findings);
  for (const [list, id] of Object.entries(PACK_KINDS[kind].ids))
    refuseDuplicates(members(root, list), id, findings, DUPLICATE_CODES[kind]);
  RULES[kind](root, findings);
  checkFileRefs(root, findings);
  return findings;
}

const RULES: Readonly<Record<PackKind, (root: Member, findings: Findings) => void>> = {
  node: checkNodes,
  'workflow-chain': checkChains,
  prompt: checkPrompts,
  'artifact-type': checkArtifactTypes,
  card: checkCards,
  connection: checkProvider,
  'frontend-plugin': checkPlugins,
  'form-content': checkForms,
};

/** Where it is not `invalid_manifest`. */
const DUPLICATE_CODES: Partial<Record<PackKind, ErrorCode>> = { 'form-content': 'pack_kind_invalid' };

/** The declared kind; undefined if it is unknown. */
export function declaredKind(manifest: JsonObject): PackKind | undefined {
  const kind = own(manifest, 'kind') ?? 'node';
  return isPackKind(kind) ? kind : undefined;
}

function checkContent(root: Member, kind: PackKind, findings: Findings): void {
  for (const key of Object.keys(root.value)) {
    const owner = kindOfContent(key);
    if (owner !== undefined && owner !== kind)
      findings.refuse(
        pointer('', key),
        `A pack of kind ${kind} cannot have ${key}, which belongs to kind ${owner}.`,
        'pack_kind_invalid',
      );
  }
}

const isRange = (range: unknown): boolean => typeof range === 'string' && semver.validRange(range) !== null;

function checkRanges(root: Member, findings: Findings): void {
  const engines = member(root, 'engines');
  const range = engines && text(engines, 'openwop');
  if (range !== undefined && !isRange(range))
    findings.refuse('/engines/openwop', 'It is not a version range.', 'invalid_engines_range');
  for (const [name, wanted] of Object.entries(member(root, 'dependencies')?.value ?? {}))
    if (!isRange(wanted)) findings.refuse(pointer('/dependencies', name), 'It is not a version range.');
  const version = text(root, 'version');
  // Such as leading zeros, which the pattern of the schema lets through.
  if (version !== undefined && /^\d+\.\d+\.\d+/.test(version) && semver.valid(version) === null)
    findings.refuse('/version', 'It is not a semantic version.');
}

/** Names come from outside, and each is compared with all known ones. */
const PEERS_SHOWN_MAX = 20;

/** Warnings: hosts may know more, and one that does not says so when the pack is installed. */
function checkPeers(root: Member, findings: Findings): void {
  const peers = Object.entries(member(root, 'peerDependencies')?.value ?? {});
  const unknown = peers.filter(([name]) => !isKnownCapability(name)).slice(0, PEERS_SHOWN_MAX);
  for (const [name] of unknown) findings.warn(pointer('/peerDependencies', name), `It ${nameProblem(name)}.`);
  for (const [name, wanted] of peers)
    if (typeof wanted === 'string' && readWish(wanted).kind === 'unreadable')
      findings.warn(pointer('/peerDependencies', name), `${JSON.stringify(wanted)} ${VALUE_PROBLEM}.`);
}

const FILE_MEMBER = /Ref$/;
const NOT_FILES = new Set(['publicKeyRef', 'promptLibraryRef']);

/** Every `…Ref` of a manifest names a file of the pack, wherever it stands, but inside data. */
function checkFileRefs(root: Member, findings: Findings): void {
  for (const { path, ref } of fileRefs(root))
    if (!isFilePath(ref)) findings.refuse(path, `${ref.slice(0, 128)} is not a path inside the pack.`);
}

interface FileReference {
  readonly path: string;
  readonly ref: string;
}

const REF_HOLDERS = ['nodes', 'agents', 'artifactTypes', 'cards'] as const;

/** The files that a manifest refers to, with the position of each reference. */
function fileRefs(root: Member): FileReference[] {
  const holders = REF_HOLDERS.flatMap((key) => members(root, key));
  const inner = holders.map((holder) => member(holder, 'handoff')).filter((found) => found !== undefined);
  const signing = member(root, 'signing');
  return [...holders, ...inner, ...(signing ? [signing] : [])].flatMap((holder) =>
    Object.keys(holder.value)
      .filter((key) => FILE_MEMBER.test(key) && !NOT_FILES.has(key))
      .flatMap((key) => {
        const ref = text(holder, key);
        return ref === undefined ? [] : [{ path: pointer(holder.path, key), ref }];
      }),
  );
}

const rootOf = (value: unknown): Member | undefined => (isObject(value) ? { path: '', value } : undefined);

interface FileIssue {
  /** JSON pointer of the reference in the manifest. */
  readonly path: string;
  readonly file: string;
  readonly message: string;
  readonly code: ErrorCode;
}

const SIGNATURE = '/signing/signatureRef';

/** What the manifest refers to must be in the pack: code, schemas that are JSON, prompts that are text. */
export function checkFiles(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): FileIssue[] {
  const root = rootOf(manifest);
  const refs = root ? fileRefs(root).filter(({ path }) => path !== SIGNATURE) : [];
  const issues = refs.flatMap(({ path, ref }) => {
    const file = normalizePath(ref);
    const message = problem(path, files.get(file));
    return message === undefined ? [] : [{ path, file, message, code: 'schema_ref_missing' as const }];
  });
  return [...issues, ...entryIssues(manifest, files)];
}

function problem(path: string, bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return 'The file is not in the pack.';
  const text = utf8Of(bytes);
  if (text === undefined) return 'The file is not UTF-8 text.';
  return /SchemaRef$|\/schemaRef$/.test(path) && !isJsonSchema(text)
    ? 'The file is not a JSON Schema.'
    : undefined;
}

function entryIssues(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): FileIssue[] {
  const entries =
    manifest.kind === 'node' && manifest.runtime.language !== 'remote'
      ? [{ path: '/runtime/entry', file: normalizePath(manifest.runtime.entry) }]
      : manifest.kind === 'frontend-plugin'
        ? manifest.uiPlugins.map(({ entry }, index) => ({
            path: `/uiPlugins/${index}/entry`,
            file: normalizePath(entry),
          }))
        : [];
  return entries
    .filter(({ file }) => !files.has(file))
    .map((entry) => ({ ...entry, message: 'The file is not in the pack.', code: 'tarball_entry_missing' }));
}

function isJsonSchema(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'boolean' || isObject(value);
}
