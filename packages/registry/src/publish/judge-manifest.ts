/** What the pack.json of a published archive must be. */
import { checkFiles, type ManifestIssue, type PackManifest, readManifest } from '@gantry/packs';
import { type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { VersionAddress } from '../catalogue/store-catalogue.ts';
import type { Inspection } from './inspect-archive.ts';

const ISSUES_SHOWN_MAX = 20;

export interface JudgedManifest {
  readonly manifest: PackManifest;
  /** pack.json as it stands in the archive. */
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
  const told = first === undefined ? {} : { message: `pack.json ${first.path || '/'}: ${first.message}` };
  return new OpenwopError(codeOf(issues), {
    ...told,
    details: { issues: shown.map((issue) => ({ ...issue })) },
  });
}

/** Broken shape comes before what a readable manifest is refused for. */
function codeOf(issues: readonly ManifestIssue[]): ErrorCode {
  if (issues.length > 0 && issues.every(({ path }) => path === '/runtime/language'))
    return 'unsupported_runtime';
  const broken = issues.find(({ code }) => code === 'invalid_manifest') ?? issues[0];
  return broken?.code ?? 'invalid_manifest';
}

function refuseMismatch(manifest: PackManifest, address: VersionAddress): void {
  const differing = (['name', 'version'] as const).filter((field) => manifest[field] !== address[field]);
  if (differing.length === 0) return;
  const told = differing.map((field) => `${field} is ${manifest[field]}, the address says ${address[field]}`);
  throw new OpenwopError('manifest_mismatch', {
    message: `In pack.json ${told.join('; ')}.`,
    details: Object.fromEntries(
      differing.map((field) => [field, { manifest: manifest[field], address: address[field] }]),
    ),
  });
}

function refuseMissingFiles(manifest: PackManifest, traces: Inspection['traces']): void {
  const issues = checkFiles(manifest, traces);
  // The code itself is asked for before the schemas of its nodes.
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
