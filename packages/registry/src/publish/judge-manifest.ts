/** Checks the pack.json of an archive to be published. */
import { checkFiles, type ManifestIssue, type PackManifest, readManifest } from '@gantry/packs';
import { type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { VersionAddress } from '../catalogue/store-catalogue.ts';
import type { Inspection } from './inspect-archive.ts';

const ISSUES_SHOWN_MAX = 20;

export interface JudgedManifest {
  readonly manifest: PackManifest;
  /** pack.json as in the archive. */
  readonly source: JsonObject;
}

export function judgeManifest(
  { manifestBytes, traces }: Inspection,
  address: VersionAddress,
): JudgedManifest {
  const reading = readManifest(manifestBytes);
  if (reading.kind === 'refused') throw refusal(reading.issues);
  const { manifest } = reading;
  refuseMismatch(manifest, address);
  refuseMissingFiles(manifest, traces);
  return { manifest, source: JSON.parse(manifestBytes.toString('utf8').replace(/^\uFEFF/, '')) };
}

function refusal(issues: readonly ManifestIssue[]): OpenwopError {
  const shown = issues.slice(0, ISSUES_SHOWN_MAX);
  const [first] = shown;
  const shownFirst =
    first === undefined ? {} : { message: `pack.json ${first.path || '/'}: ${first.message}` };
  return new OpenwopError(codeOf(issues), {
    ...shownFirst,
    details: { issues: shown.map((issue) => ({ ...issue })) },
  });
}

/** A manifest that does not fit its schema is reported before other problems. */
function codeOf(issues: readonly ManifestIssue[]): ErrorCode {
  if (issues.length > 0 && issues.every(({ path }) => path === '/runtime/language'))
    return 'unsupported_runtime';
  const broken = issues.find(({ code }) => code === 'invalid_manifest') ?? issues[0];
  return broken?.code ?? 'invalid_manifest';
}

function refuseMismatch(manifest: PackManifest, address: VersionAddress): void {
  const differing = (['name', 'version'] as const).filter((field) => manifest[field] !== address[field]);
  if (differing.length === 0) return;
  const problems = differing.map((field) => `${field} is ${manifest[field]}, not ${address[field]}`);
  throw new OpenwopError('manifest_mismatch', {
    message: `pack.json does not match the address: ${problems.join('; ')}.`,
    details: Object.fromEntries(
      differing.map((field) => [field, { manifest: manifest[field], address: address[field] }]),
    ),
  });
}

function refuseMissingFiles(manifest: PackManifest, traces: Inspection['traces']): void {
  const issues = checkFiles(manifest, traces);
  // A missing entry file is reported before missing schemas.
  const [first] = issues.toSorted((left, right) => Number(isReference(left)) - Number(isReference(right)));
  if (first === undefined) return;
  throw new OpenwopError(first.code, {
    message: `pack.json ${first.path} names ${first.file}. ${first.message}`,
    details: {
      path: first.path,
      file: first.file,
      issues: issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => ({ ...issue })),
    },
  });
}

const isReference = ({ code }: { readonly code: ErrorCode }): boolean => code === 'schema_ref_missing';
