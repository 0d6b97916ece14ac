import path from 'node:path';
import { isTestCode } from './files.ts';
import { importsOf } from './imports.ts';
import type { Trees } from './syntax.ts';

const SURFACES = 'packages/surfaces/src/';

/** Folders of `packages/surfaces/src` with one backend each, and the backends that they are built on. */
const BACKENDS: Readonly<Record<string, readonly string[]>> = {
  sqlite: [],
  postgres: [],
  s3: [],
  'sql-drivers': [],
};

function backendOf(file: string): string | undefined {
  const folder = file.startsWith(SURFACES) ? file.slice(SURFACES.length).split('/')[0] : undefined;
  return folder !== undefined && folder in BACKENDS ? folder : undefined;
}

/** What two backends share belongs to neither, so that each can be read, changed and dropped by itself. */
export function checkBackends(trees: Trees): string[] {
  return importsOf(trees).flatMap(({ file, place, specifier }) => {
    const from = backendOf(file);
    if (from === undefined || isTestCode(file) || !specifier?.startsWith('.')) return [];
    const to = backendOf(path.posix.join(path.posix.dirname(file), specifier));
    if (to === undefined || to === from || BACKENDS[from]?.includes(to)) return [];
    return [
      `${place}: the backend ${from} imports from the backend ${to}; put what they share beside the folders`,
    ];
  });
}
