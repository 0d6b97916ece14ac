/** Finds the host surfaces that the code of a pack calls, without running it. */
import { GRANTABLE_SURFACES, isHeldToNamed, surfacesNamedBy } from '@gantry/protocol';
import type { PackManifest } from '../manifest/kinds.ts';
import { scanJavaScript } from './javascript.ts';
import { SURFACE_PATHS } from './value.ts';

export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface CalledSurfaces {
  /** Capabilities without `host.`, each with the position of its first call. */
  readonly called: ReadonlyMap<string, FilePosition>;
  /** Reasons why calls cannot be determined, as text. */
  readonly unknown: ReadonlyMap<string, FilePosition>;
}

/** The scan blocks its thread: 270 KB of dense calls took 0.2 to 0.4 s. Published packs have at most 44 KB. */
const SOURCE_BYTES_MAX = 256 * 1024;
const UNKNOWN_MAX = 20;
const START = { line: 1, column: 1 } as const;
const CODE = { javascript: /\.[cm]?js$/, python: /\.py$/ } as const;

type Files = ReadonlyMap<string, Uint8Array>;

export function calledSurfaces(manifest: PackManifest, files: Files): CalledSurfaces {
  const language = manifest.kind === 'node' ? manifest.runtime.language : undefined;
  const nodes = manifest.kind === 'node' ? (manifest.nodes ?? []) : [];
  if ((language !== 'javascript' && language !== 'python') || nodes.length === 0)
    return { called: new Map(), unknown: new Map() };
  const found = [...files].filter(([file]) => CODE[language].test(file));
  if (found.reduce((sum, [, { length }]) => sum + length, 0) > SOURCE_BYTES_MAX)
    return undetermined(`its code is larger than ${SOURCE_BYTES_MAX / 1024} KB`);
  const sources = found.map(([file, bytes]) => ({ file, source: Buffer.from(bytes).toString('utf8') }));
  if (language === 'python') return searchPython(sources);
  try {
    const typeIds = nodes.map(({ typeId }) => typeId);
    const { called, unknown } = scanJavaScript(sources, typeIds);
    return { called, unknown: new Map([...unknown].slice(0, UNKNOWN_MAX)) };
  } catch (error) {
    // Code that is nested too deeply for the stack.
    if (error instanceof RangeError) return undetermined('its code is nested too deeply');
    throw error;
  }
}

const undetermined = (what: string): CalledSurfaces => ({
  called: new Map(),
  unknown: new Map([[what, { file: '', ...START }]]),
});

/** Searches Python for the names of surfaces, in either spelling. */
function searchPython(sources: readonly { file: string; source: string }[]): CalledSurfaces {
  const called = new Map<string, FilePosition>();
  for (const [path, capability] of SURFACE_PATHS) {
    const snake = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const names = [...new Set([path, snake])].map((name) => name.replaceAll('.', String.raw`\s*\.\s*`));
    const pattern = new RegExp(String.raw`\.\s*(?:${names.join('|')})\b`);
    for (const { file, source } of sources) {
      const index = called.has(capability) ? -1 : source.search(pattern);
      if (index >= 0)
        called.set(capability, { file, line: source.slice(0, index).split('\n').length, column: 1 });
    }
  }
  return { ...undetermined('Python is searched for names and not followed'), called };
}

/** The permission to call a surface. */
export const surfaceGrant = (capability: string): string => `host.${capability}`;

export interface SurfaceAsks {
  /** Permissions such as `host.kvStorage`, sorted. */
  readonly asks: readonly string[];
  /** Reasons why calls cannot be determined, as text. */
  readonly unknown: readonly string[];
}

/** The grants that a host requests at install for a pack that is not restricted to the surfaces it names. */
export function surfaceAsks(manifest: PackManifest, files: Files): SurfaceAsks {
  const peers = Object.keys(manifest.peerDependencies ?? {});
  if (isHeldToNamed(peers)) return { asks: [], unknown: [] };
  const { called, unknown } = calledSurfaces(manifest, files);
  const named = surfacesNamedBy(peers);
  const unnamed = GRANTABLE_SURFACES.filter((one) => called.has(one) && !named.includes(one));
  return { asks: unnamed.map(surfaceGrant).sort(), unknown: [...unknown.keys()] };
}
