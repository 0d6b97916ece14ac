/** Reports every problem of a pack folder in one run. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  calledSurfaces,
  checkFiles,
  FILE_LIST,
  hasOtherFileList,
  type NodePackManifest,
  normalizePath,
  type PackManifest,
  readArchive,
  readJsonSource,
  readManifest,
  surfaceGrant,
  writeArchive,
} from '@gantry/packs';
import { isHeldToNamed, surfacesNamedBy } from '@gantry/protocol';
import { UsageError } from '../../io.ts';
import type { Fault } from './fault.ts';
import { moduleExports, type PackModule } from './module-exports.ts';
import { primitivesUsed, type Use } from './used-in-source.ts';

export interface PackCheck {
  readonly faults: readonly Fault[];
  /** Absent if it cannot be read. */
  readonly manifest?: PackManifest;
  readonly files: Files;
}

type Files = ReadonlyMap<string, Uint8Array>;
type PositionOf = (pointer: string) => { line: number; column: number };

const MANIFEST = 'pack.json';
const START = { line: 1, column: 1 };
const JSON_DEPTH_MAX = 64;

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export async function checkPack(folder: string): Promise<PackCheck> {
  if (!existsSync(path.join(folder, MANIFEST))) {
    throw new UsageError(`There is no ${MANIFEST} in ${folder}. To create one: gantry pack new NAME`);
  }
  const { bytes } = await writeArchive(folder);
  const { files, manifestBytes: source } = await readArchive(bytes);
  const reading = readManifest(source);
  const broken = [...jsonFaults(files), ...secretFaults(files), ...listFaults(files)];
  if (reading.kind === 'refused') {
    const refused = reading.issues.map((issue) => manifestFault(issue, 'error'));
    return { files, faults: [...refused, ...broken] };
  }
  const { manifest, warnings } = reading;
  const positionOf = positionsIn(source);
  const faults = [
    ...warnings.map((issue) => manifestFault(issue, 'warning')),
    ...checkFiles(manifest, files).map(({ path: pointer, file, message }) =>
      manifestFault({ ...positionOf(pointer), message: `${file}: ${message}` }, 'error'),
    ),
    ...broken,
    ...readmeFaults(files),
    ...(manifest.kind === 'node' ? await codeFaults(folder, manifest, files, positionOf) : []),
  ];
  return { manifest, files, faults };
}

interface Positioned {
  readonly path?: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const manifestFault = (
  { path: pointer, line, column, message }: Positioned,
  severity: Fault['severity'],
): Fault => ({
  severity,
  file: MANIFEST,
  line,
  column,
  message: pointer ? `${pointer}: ${message}` : message,
});

function positionsIn(source: Uint8Array): PositionOf {
  const json = readJsonSource(decode(source), { depthMax: JSON_DEPTH_MAX });
  return json.kind === 'json' ? json.positionOf : () => START;
}

function jsonFaults(files: Files): Fault[] {
  return [...files].flatMap(([file, bytes]): Fault[] => {
    if (file === MANIFEST || !file.endsWith('.json')) return [];
    const json = readJsonSource(decode(bytes), { depthMax: JSON_DEPTH_MAX });
    return json.kind === 'broken'
      ? [{ severity: 'error', file, ...json.position, message: json.message }]
      : [];
  });
}

/** A signing key inside the pack folder would be published with it. */
function secretFaults(files: Files): Fault[] {
  const message = 'A pack must not contain a private key: move it away, and replace it if it was published.';
  return [...files]
    .filter(([, bytes]) => Buffer.from(bytes).includes('PRIVATE KEY-----'))
    .map(([file]) => ({ severity: 'error', file, ...START, message }));
}

function listFaults(files: Files): Fault[] {
  if (!hasOtherFileList(files)) return [];
  const message = 'Building writes the list of files under this name: rename yours.';
  return [{ severity: 'error', file: FILE_LIST, ...START, message }];
}

function readmeFaults(files: Files): Fault[] {
  if (files.has('README.md')) return [];
  const message = 'README.md is missing; describe what the pack does and needs.';
  return [{ severity: 'warning', file: MANIFEST, ...START, message }];
}

async function codeFaults(
  folder: string,
  manifest: NodePackManifest,
  files: Files,
  positionOf: PositionOf,
): Promise<Fault[]> {
  const { language, entry } = manifest.runtime;
  const file = normalizePath(entry);
  const source = files.get(file);
  if (!source || (language !== 'javascript' && language !== 'wasm' && language !== 'python')) return [];
  return [
    ...(language === 'javascript' ? undeclaredFaults(manifest, file, decode(source)) : []),
    ...surfaceFaults(manifest, files),
    ...(await exportFaults({ folder, file, language }, manifest, positionOf)),
  ];
}

/**
 * Warnings only: published packs use hashes and the clock without declaring them, and a comment may look like a use.
 */
function undeclaredFaults(manifest: NodePackManifest, file: string, source: string): Fault[] {
  const fault = ({ line, column }: Use, message: string): Fault => ({
    severity: 'warning',
    file,
    line,
    column,
    message,
  });
  const required: readonly string[] = manifest.runtime.requires ?? [];
  return without(primitivesUsed(source), required).map((use) =>
    fault(use, `${use.sign} needs "${use.name}" in runtime.requires, or the sandbox will deny it.`),
  );
}

/** A pack that names surfaces may call only those; one that names none must be granted each. */
function surfaceFaults(manifest: NodePackManifest, files: Files): Fault[] {
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const named = surfacesNamedBy(peers);
  const { called } = calledSurfaces(manifest, files);
  const why = isHeldToNamed(peers)
    ? 'a pack that names some capabilities may call others only if they are granted'
    : 'the operator must grant it at install';
  return [...called]
    .filter(([capability]) => !named.includes(capability))
    .map(([capability, position]) => ({
      severity: 'warning',
      ...position,
      message: `${capability} is called: add "${surfaceGrant(capability)}" to peerDependencies; ${why}.`,
    }));
}

const without = (uses: readonly Use[], declared: readonly string[]): Use[] =>
  uses.filter(({ name }) => !declared.includes(name));

async function exportFaults(
  module: PackModule,
  { nodes = [] }: NodePackManifest,
  positionOf: PositionOf,
): Promise<Fault[]> {
  const { file } = module;
  const found = await moduleExports(module);
  if (found.kind === 'unknown') return [{ severity: 'warning', file, ...START, message: found.message }];
  if (found.kind === 'broken') {
    const { line, column, message } = found;
    return [{ severity: 'error', file, line, column, message }];
  }
  const declared = nodes.map(({ typeId }) => typeId);
  const missing = nodes.flatMap(({ typeId }, index): Fault[] =>
    found.typeIds.includes(typeId)
      ? []
      : [manifestFault({ ...positionOf(`/nodes/${index}/typeId`), message: lacks(file, typeId) }, 'error')],
  );
  const extra = found.typeIds
    .filter((typeId) => !declared.includes(typeId))
    .map((typeId): Fault => {
      const message = `It offers ${typeId}, which pack.json does not list: it cannot be used.`;
      return { severity: 'warning', file, ...START, message };
    });
  return [...missing, ...extra];
}

const lacks = (file: string, typeId: string): string => `${file} does not offer ${typeId}.`;
