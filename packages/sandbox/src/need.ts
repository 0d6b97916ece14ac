/** What an invocation or inspection needs of a process, and what follows from it. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Invocation } from './invocation.ts';

export const MIB = 1024 * 1024;
const WASM_PAGE_BYTES = 65536;

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

export type Need = Pick<Invocation, 'code' | 'key' | 'grants' | 'environment' | 'limits'>;

export const environmentOf = ({ grants, environment = {} }: Need): Readonly<Record<string, string>> =>
  grants.includes('env.read') ? environment : {};

/** Two invocations with the same key may share a process. */
export function shareKey(need: Need): string {
  const { code, key, grants, limits } = need;
  const { tenant, workspace, principal } = key;
  const pack = [code.name, code.version, code.folder, code.entry, code.language];
  const power = [[...grants].sort(), Object.entries(environmentOf(need)).sort(), limits.memoryBytes];
  return digest([pack, tenant, workspace, principal, power]);
}

/** Files belong to a pack in a workspace; other principals there see the same ones. */
export const filesFolder = (workDir: string, { code, key }: Need): string =>
  path.join(workDir, 'files', digest([code.name, key.tenant, key.workspace]).slice(0, 32));

export const wasmPages = ({ code, limits }: Need): number => {
  const allowed = Math.floor(limits.memoryBytes / WASM_PAGE_BYTES);
  return Math.max(1, Math.min(allowed, code.wasm?.memoryPagesMax ?? allowed));
};

export function flagsOf(need: Need): string[] {
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(need.limits.memoryBytes / MIB))}`;
  const flags = [heap, '--expose-gc'];
  return need.code.language === 'wasm' ? [...flags, `--wasm-max-mem-pages=${wasmPages(need)}`] : flags;
}
