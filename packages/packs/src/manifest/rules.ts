import { isKnownCapability, isObject } from '@gantry/protocol';
import semver from 'semver';
import { isFilePath, normalizePath } from '../archive/path.ts';
import { nameProblem, readWish, VALUE_PROBLEM } from '../install/peer-dependencies.ts';
import { jsonOf, utf8Of } from '../json.ts';
import { type Finding, Part, refuseDuplicates } from './issue.ts';
import { pointer } from './json-source.ts';
import { kindOfContent, PACK_KINDS, type PackKind, type PackManifest } from './kinds.ts';

/**
 * Checks that a schema cannot express. They also run on files that the schema refuses, so that an author gets all
 * problems at once.
 */
export function checkRules(root: Part, kind: PackKind): readonly Finding[] {
  const { ids, rules } = PACK_KINDS[kind];
  const duplicateCode = kind === 'form-content' ? 'pack_kind_invalid' : 'invalid_manifest';
  checkContent(root, kind);
  checkRanges(root);
  checkPeers(root);
  for (const [list, id] of Object.entries(ids)) refuseDuplicates(root.parts(list), id, duplicateCode);
  rules(root);
  for (const { path, ref } of fileRefs(root))
    if (!isFilePath(ref)) root.refuse(path, `${ref.slice(0, 128)} is not a path inside the pack.`);
  return root.findings;
}

function checkContent(root: Part, kind: PackKind): void {
  for (const key of Object.keys(root.value)) {
    const owner = kindOfContent(key) ?? kind;
    const message = `A pack of kind ${kind} cannot have ${key}, which belongs to kind ${owner}.`;
    if (owner !== kind) root.refuse(pointer('', key), message, 'pack_kind_invalid');
  }
}

const isRange = (range: unknown): boolean => typeof range === 'string' && semver.validRange(range) !== null;

function checkRanges(root: Part): void {
  const range = root.part('engines')?.text('openwop');
  if (range !== undefined && !isRange(range))
    root.refuse('/engines/openwop', 'It is not a version range.', 'invalid_engines_range');
  for (const [name, wanted] of Object.entries(root.part('dependencies')?.value ?? {}))
    if (!isRange(wanted)) root.refuse(pointer('/dependencies', name), 'It is not a version range.');
  const version = root.text('version');
  // For example leading zeros, which the pattern of the schema accepts.
  if (version !== undefined && /^\d+\.\d+\.\d+/.test(version) && semver.valid(version) === null)
    root.refuse('/version', 'It is not a semantic version.');
}

/** Names come from outside, and each is compared with all known ones. */
const PEERS_SHOWN_MAX = 20;

/** These are warnings: a host may know more, and reports unknown ones at install. */
function checkPeers(root: Part): void {
  const peers = Object.entries(root.part('peerDependencies')?.value ?? {});
  const unknown = peers.filter(([name]) => !isKnownCapability(name)).slice(0, PEERS_SHOWN_MAX);
  for (const [name] of unknown) root.warn(pointer('/peerDependencies', name), `It ${nameProblem(name)}.`);
  for (const [name, wanted] of peers)
    if (typeof wanted === 'string' && readWish(wanted) === undefined)
      root.warn(pointer('/peerDependencies', name), `${JSON.stringify(wanted)} ${VALUE_PROBLEM}.`);
}

/** Members with references to files, besides `runtime` and `signing`. */
const HOLDERS = ['nodes', 'agents', 'artifactTypes', 'cards', 'uiPlugins'] as const;
const FILE_MEMBER = /Ref$|^entry$/;
const NOT_FILES = new Set(['publicKeyRef', 'promptLibraryRef']);

/** The files that a manifest names: its code, and the `…Ref` members of its parts. */
function fileRefs(root: Part): { readonly path: string; readonly ref: string }[] {
  const holders = HOLDERS.flatMap((key) => root.parts(key));
  const handoffs = holders.map((holder) => holder.part('handoff'));
  const runtime = root.part('runtime');
  const code = runtime?.text('language') === 'remote' ? undefined : runtime;
  const parts = [...holders, ...handoffs, root.part('signing'), code].filter((part) => part !== undefined);
  return parts.flatMap(({ path, value }) =>
    Object.entries(value).flatMap(([key, ref]) =>
      FILE_MEMBER.test(key) && !NOT_FILES.has(key) && typeof ref === 'string'
        ? [{ path: pointer(path, key), ref }]
        : [],
    ),
  );
}

/** `path` is the path of the reference in the manifest. */
interface FileIssue extends Omit<Finding, 'severity'> {
  readonly file: string;
}

/** Files that the manifest refers to must be in the pack: code, schemas as JSON, prompts as text. */
export function checkFiles(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): FileIssue[] {
  const refs = isObject(manifest) ? fileRefs(new Part(manifest)) : [];
  return refs.flatMap(({ path, ref }) => {
    const file = normalizePath(ref);
    const message = fileProblem(path, files.get(file));
    const code = isCode(path) ? 'tarball_entry_missing' : 'schema_ref_missing';
    return message === undefined ? [] : [{ path, file, message, code }];
  });
}

const isCode = (path: string): boolean => path.endsWith('/entry');
/** Not needed if the registry serves the signature. */
const SIGNATURE = '/signing/signatureRef';

function fileProblem(path: string, bytes: Uint8Array | undefined): string | undefined {
  if (path === SIGNATURE) return undefined;
  if (bytes === undefined) return 'The file is not in the pack.';
  if (isCode(path)) return undefined;
  const text = utf8Of(bytes);
  if (text === undefined) return 'The file is not UTF-8 text.';
  return /SchemaRef$|\/schemaRef$/.test(path) && !isJsonSchema(text)
    ? 'The file is not a JSON Schema.'
    : undefined;
}

function isJsonSchema(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'boolean' || isObject(value);
}
