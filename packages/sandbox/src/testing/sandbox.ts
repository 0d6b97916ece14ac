import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createEgress, type Egress } from '@gantry/egress';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import type { Data, Invocation, PackCode } from '../invocation.ts';
import { ErrorForPack } from '../result.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox.ts';

export const MIB = 1024 * 1024;

export const egress: Egress = createEgress({ policy: LOOPBACK_POLICY });

/** Everything on disk lies in one folder, gone with the process; open, since `bwrap` enters it as nobody. */
const scratch = mkdtempSync(path.join(tmpdir(), 'gantry-sandbox-'));
chmodSync(scratch, 0o755);
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

/** A new empty folder. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(scratch, 'f-'));
  await chmod(folder, 0o755);
  return folder;
}

/** A sandbox with the isolation of this machine; gone when the test is. */
export async function startSandbox(
  t: Pick<TestContext, 'after'>,
  options: Partial<SandboxOptions> = {},
): Promise<Sandbox> {
  const sandbox = await createSandbox({
    isolation: 'os',
    workDir: await scratchFolder(),
    warmMax: 4,
    idleMs: 60_000,
    egress,
    now: () => performance.now(),
    log: () => {},
    ...options,
  });
  t.after(() => sandbox.stop());
  return sandbox;
}

let packs = 0;

/** A pack on disk, by the text of its files. */
export async function packOf(source: string | Record<string, string | Uint8Array>): Promise<PackCode> {
  const folder = await scratchFolder();
  const files = typeof source === 'string' ? { 'index.mjs': source } : source;
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  packs += 1;
  return {
    name: `vendor.test.p${packs}`,
    version: '1.0.0',
    folder,
    entry: 'index.mjs',
    language: 'javascript',
  };
}

/** A module with one node, `test.node`, whose body sees `ctx`. */
export const nodePack = (body: string, before = ''): Promise<PackCode> =>
  packOf(`${before}\nexport const nodes = { 'test.node': async (ctx) => { ${body} } };\n`);

export function invocationOf(code: PackCode, overrides: Partial<Invocation> = {}): Invocation {
  return {
    code,
    key: { tenant: 'acme', workspace: 'main', principal: 'ada' },
    grants: [],
    typeId: 'test.node',
    repeatable: true,
    ctx: {
      runId: 'run-1',
      nodeId: 'node-1',
      attempt: 1,
      inputs: {},
      config: {},
      trustBoundary: 'trusted',
      configurable: {},
    },
    variables: {},
    answers: {},
    limits: { memoryBytes: 64 * MIB, wallClockMs: 60_000, outputBytes: MIB },
    surfaces: {},
    call: async (method, args) => {
      if (method === 'net.fetch') return fetched(args);
      throw new ErrorForPack('host_capability_missing', `${method} is not served`);
    },
    emit: () => {},
    log: () => {},
    ...overrides,
  };
}

/** As a host does for packs that were granted the network, without a journal. */
export async function fetched([url]: readonly Data[]): Promise<Data> {
  const { status, headers, body, redirected, ...answer } = await egress.request(String(url));
  return { status, headers: [...headers], body, redirected, url: answer.url };
}

/** Invocations of `test.node` with these inputs. */
export const withInputs = (code: PackCode, inputs: Invocation['ctx']['inputs']): Invocation => {
  const invocation = invocationOf(code);
  return { ...invocation, ctx: { ...invocation.ctx, inputs } };
};
