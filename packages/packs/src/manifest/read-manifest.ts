import { isObject, type Json, type JsonObject } from '@gantry/protocol';
import { Settings } from 'typebox/system';
import { MANIFEST_BYTES_MAX } from '../archive/limits.ts';
import { own, utf8Of } from '../json.ts';
import { type Finding, type ManifestIssue, Part, type SchemaError, schemaSentence } from './issue.ts';
import { type JsonSource, type Position, pointer, readJsonSource } from './json-source.ts';
import { isPackKind, kindOfContent, PACK_KINDS, type PackKind, type PackManifest } from './kinds.ts';
import { checkRules } from './rules.ts';

const DEPTH_MAX = 32;
const ISSUES_MAX = 200;

export type ManifestReading =
  | {
      readonly kind: 'manifest';
      readonly manifest: PackManifest;
      readonly warnings: readonly ManifestIssue[];
    }
  | { readonly kind: 'refused'; readonly issues: readonly ManifestIssue[] };

const START: Position = { line: 1, column: 1 };

/** Parses a manifest. Returns it, or all of its problems with their positions. */
export function readManifest(source: string | Uint8Array): ManifestReading {
  const text = typeof source === 'string' ? source : utf8Of(source, { ignoreBOM: true });
  if (text === undefined) return refused('The file is not UTF-8.', START, 'tarball_manifest_not_json');
  if (Buffer.byteLength(text) > MANIFEST_BYTES_MAX)
    return refused(
      `The file is larger than ${MANIFEST_BYTES_MAX} bytes.`,
      START,
      'tarball_manifest_too_large',
    );
  const json = readJsonSource(text, { depthMax: DEPTH_MAX });
  if (json.kind === 'broken') return refused(json.message, json.position, 'tarball_manifest_not_json');
  if (!isObject(json.value)) return refused('A manifest is an object.', START, 'invalid_manifest');
  return readObject(json.value, json);
}

function readObject(value: JsonObject, source: JsonSource & { kind: 'json' }): ManifestReading {
  const kind = own(value, 'kind') ?? 'node';
  const root = new Part(value);
  if (!isPackKind(kind))
    root.refuse(
      '/kind',
      `The kind is not one of ${Object.keys(PACK_KINDS).join(', ')}.`,
      'pack_kind_invalid',
    );
  if (kind === 'connection') refuseCredentials(root);
  if (!isPackKind(kind) || root.findings.length > 0)
    return { kind: 'refused', issues: withPositions(root.findings, source) };

  const manifest = { ...value, kind };
  const findings = [...schemaFindings(kind, manifest), ...checkRules(root, kind)];
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 || !isManifest(manifest))
    return { kind: 'refused', issues: withPositions(errors, source) };
  return { kind: 'manifest', manifest, warnings: withPositions(findings, source) };
}

/** The schema of the kind has validated it; TypeBox loses that type through the table of kinds. */
const isManifest = (value: JsonObject): value is JsonObject & PackManifest =>
  isPackKind(value.kind) && PACK_KINDS[value.kind].schema.Check(value);

function schemaFindings(kind: PackKind, value: Json): Finding[] {
  if (PACK_KINDS[kind].schema.Check(value)) return [];
  return allErrors(kind, value).flatMap((error) => {
    const { instancePath: path } = error;
    const message = schemaSentence(error);
    // A rule covers content of another kind.
    const isForeign = (kindOfContent(path.slice(1)) ?? kind) !== kind;
    return message === undefined || isForeign
      ? []
      : [{ path, message, code: 'invalid_manifest', severity: 'error' }];
  });
}

/** TypeBox stops after eight errors. The limit is global, so it is raised only for this call. */
function allErrors(kind: PackKind, value: Json): readonly SchemaError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: ISSUES_MAX });
  try {
    return PACK_KINDS[kind].schema.Errors(value)[1];
  } finally {
    Settings.Set({ maxErrors });
  }
}

function withPositions(findings: readonly Finding[], source: JsonSource & { kind: 'json' }): ManifestIssue[] {
  return findings
    .slice(0, ISSUES_MAX)
    .map(({ path, message, code }) => ({ path, ...source.positionOf(path), message, code }))
    .sort((left, right) => left.line - right.line || left.column - right.column);
}

const refused = (message: string, position: Position, code: ManifestIssue['code']): ManifestReading => ({
  kind: 'refused',
  issues: [{ path: '', ...position, message, code }],
});

/** In lower case. */
const SECRET_NAME = /^(client_?secret|api_?key|(access|refresh)?token|password|privatekey|secret)$/;

/** The address of an endpoint: the only member with such a name that is not a secret. */
const EXEMPT = '/provider/auth/endpoints/token';

/** Refuses members of a connection pack that are named like secrets, at any depth, before schema validation. */
function refuseCredentials(root: Part, value: Json = root.value, at = ''): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const path = pointer(at, key);
    if (SECRET_NAME.test(key.toLowerCase()) && path !== EXEMPT)
      root.refuse(path, 'Packs never carry secrets.', 'connection_pack_credential_material');
    refuseCredentials(root, item, path);
  }
}
