import { createHash } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns/promises';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Egress, Lookup } from '@gantry/egress';
import type { CallContext } from './calls.ts';
import type {
  Inspection,
  Invocation,
  InvocationLimits,
  InvocationOutcome,
  NodeError,
  PackCode,
} from './invocation.ts';
import { chooseIsolation } from './isolation/choose.ts';
import type { Isolation } from './isolation/launch.ts';
import { Job, type JobEnd } from './job.ts';
import { PackProcess } from './pack-process.ts';
import { Pool, type PoolStats, type Wanted } from './pool.ts';
import { Usage } from './receipt.ts';
import { nodeError, toJsonObject } from './result.ts';

const MIB = 1024 * 1024;
const WASM_PAGE_BYTES = 65536;
/** After so many displacements an invocation runs alone, where nobody can displace it. */
const SHARED_DISPATCHES_MAX = 3;
const INSPECTION_LIMITS: InvocationLimits = { memoryBytes: 128 * MIB, wallClockMs: 10_000, outputBytes: MIB };
const INSPECTOR = { tenant: '', workspace: '', principal: '' } as const;

export interface SandboxOptions {
  readonly isolation: 'os' | 'permission-only';
  /** Ours alone: the children's root, and the folders of packs that were granted files. */
  readonly workDir: string;
  readonly warmMax: number;
  readonly idleMs: number;
  readonly egress: Egress;
  /** The resolver behind `net.dns`. */
  readonly lookup?: Lookup;
  readonly now: () => number;
  log(level: 'info' | 'warn', message: string, data?: Readonly<Record<string, unknown>>): void;
}

export interface SandboxStats extends PoolStats {
  readonly isolation: Isolation['kind'];
  /** Dispatches that were repeated because a neighbour had to be stopped. */
  readonly displaced: number;
}

export interface Sandbox {
  /** Which type ids the module really exports; loads it in a process of its own. */
  inspect(code: PackCode, grants?: readonly string[]): Promise<Inspection>;
  /** Rejects only when its signal is aborted or the sandbox stops; what the pack does wrong is a result. */
  invoke(invocation: Invocation): Promise<InvocationOutcome>;
  stats(): SandboxStats;
  stop(): Promise<void>;
}

const hostLookup: Lookup = async (name) =>
  (await systemLookup(name, { all: true })).map(({ address }) => address);

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

type Need = Pick<Invocation, 'code' | 'key' | 'grants' | 'environment' | 'limits'>;

const environmentOf = ({ grants, environment = {} }: Need): Readonly<Record<string, string>> =>
  grants.includes('env.read') ? environment : {};

/** Two invocations with the same key may share a process. */
function shareKey(need: Need): string {
  const { code, key, grants, limits } = need;
  const { tenant, workspace, principal } = key;
  const pack = [code.name, code.version, code.folder, code.entry];
  const power = [[...grants].sort(), Object.entries(environmentOf(need)).sort(), limits.memoryBytes];
  return digest([pack, tenant, workspace, principal, power]);
}

/** Files belong to a pack in a workspace; other principals there see the same ones. */
const filesFolder = (workDir: string, { code, key }: Need): string =>
  path.join(workDir, 'files', digest([code.name, key.tenant, key.workspace]).slice(0, 32));

const wasmPages = ({ code, limits }: Need): number => {
  const allowed = Math.floor(limits.memoryBytes / WASM_PAGE_BYTES);
  return Math.max(1, Math.min(allowed, code.wasm?.memoryPagesMax ?? allowed));
};

function flagsOf(need: Need): string[] {
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(need.limits.memoryBytes / MIB))}`;
  return need.code.language === 'wasm' ? [heap, `--wasm-max-mem-pages=${wasmPages(need)}`] : [heap];
}

class PackSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #isolation: Isolation;
  readonly #pool: Pool;
  #displaced = 0;

  constructor(options: SandboxOptions, isolation: Isolation) {
    this.#options = options;
    this.#isolation = isolation;
    this.#pool = new Pool(options);
  }

  async inspect(code: PackCode, grants: readonly string[] = []): Promise<Inspection> {
    if (code.language === 'python') return { loaded: false, error: unsupported(code) };
    const need = { code, key: INSPECTOR, grants, limits: INSPECTION_LIMITS };
    return this.#pool.use(this.#wanted(need, { alone: true }), (process) => process.opened);
  }

  async invoke(invocation: Invocation): Promise<InvocationOutcome> {
    const startedAt = this.#options.now();
    const outcome = (
      end: JobEnd & { kind: 'settled' | 'stopped' },
      usage: Usage,
      atLoad?: Usage,
    ): InvocationOutcome => ({
      result: end.kind === 'settled' ? end.result : { status: 'error', error: end.error },
      variables: end.kind === 'settled' ? toJsonObject(end.variables) : {},
      used: usage.receipt(atLoad),
      durationMs: this.#options.now() - startedAt,
    });
    if (invocation.code.language === 'python')
      return outcome({ kind: 'stopped', error: unsupported(invocation.code) }, new Usage());
    let alone = false;
    for (let dispatch = 0; ; dispatch++) {
      const job = new Job(invocation, dispatch);
      const [end, process] = await this.#dispatch(job, alone || dispatch >= SHARED_DISPATCHES_MAX);
      invocation.signal?.throwIfAborted();
      if (end.kind !== 'displaced') return outcome(end, job.usage, process.usedAtLoad);
      this.#displaced += 1;
      alone ||= end.isSuspect;
    }
  }

  stats(): SandboxStats {
    return { isolation: this.#isolation.kind, ...this.#pool.stats(), displaced: this.#displaced };
  }

  async stop(): Promise<void> {
    await this.#pool.stop();
  }

  async #dispatch(job: Job, alone: boolean): Promise<[JobEnd, PackProcess]> {
    const { invocation } = job;
    const wanted = this.#wanted(invocation, { alone, signal: invocation.signal });
    return this.#pool.use(wanted, async (process): Promise<[JobEnd, PackProcess]> => {
      const inspection = await process.opened;
      if (!inspection.loaded) return [{ kind: 'stopped', error: inspection.error }, process];
      if (process.isDead) return [{ kind: 'displaced', isSuspect: false }, process];
      process.start(job);
      return [await job.ended, process];
    });
  }

  #wanted(need: Need, use: { alone: boolean; signal?: AbortSignal | undefined }): Wanted {
    return { key: shareKey(need), ...use, start: (onEnd) => this.#start(need, onEnd) };
  }

  #start(need: Need, onEnd: () => void): PackProcess {
    const { code, grants, limits } = need;
    const { egress, lookup = hostLookup, workDir } = this.#options;
    const command = this.#isolation.command({ folder: code.folder, flags: flagsOf(need) });
    const context: CallContext = { egress, lookup, filesFolder: filesFolder(workDir, need) };
    const environment = environmentOf(need);
    const { language, entry, format = 'esm' } = code;
    const pack = { folder: command.folder, language, entry, format, wasm: { pagesMax: wasmPages(need) } };
    const open = { type: 'open', ...pack, grants, envNames: Object.keys(environment) };
    const { memoryBytes, wallClockMs: loadMs } = limits;
    return new PackProcess({ command, open, memoryBytes, loadMs, context, grants, environment, onEnd });
  }
}

const unsupported = (code: PackCode): NodeError =>
  nodeError(
    'unsupported_runtime',
    `${code.name}@${code.version} needs ${code.language}, which this host does not run.`,
  );

/** Rejects with `SandboxUnavailable` when `os` is asked for and this machine cannot. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  mkdirSync(options.workDir, { recursive: true, mode: 0o700 });
  const isolation = await chooseIsolation(options.isolation, options.workDir);
  if (isolation.kind === 'permission-only')
    options.log('warn', 'Packs run without an OS sandbox: only code that you trust may be installed.');
  return new PackSandbox(options, isolation);
}
