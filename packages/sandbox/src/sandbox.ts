import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Egress } from '@gantry/egress';
import { ownerOf, Seldom, workspaceKey } from '@gantry/protocol';
import type { CallContext } from './calls.ts';
import { failed, neverStarted, withoutOrigin } from './fault.ts';
import type {
  Inspection,
  Invocation,
  InvocationLimits,
  InvocationOutcome,
  NodeError,
  NodeResult,
  PackCode,
} from './invocation.ts';
import { chooseIsolation, FILTER_HINT, type Isolation, type IsolationChoice } from './isolation/choose.ts';
import type { Launcher } from './isolation/launch.ts';
import { choosePython, type PythonFound } from './isolation/python.ts';
import type { UidRange } from './isolation/uids.ts';
import { Job, type JobEnd, Usage } from './job.ts';
import { PackProcess } from './pack-process.ts';
import { Pool, type PoolStats, type Use, type Wanted } from './pool.ts';
import { nodeError, toJsonObject } from './result.ts';

const MIB = 1024 * 1024;
/** After this many displacements an invocation runs alone, where no other invocation can displace it. */
const SHARED_DISPATCHES_MAX = 3;
const DISPATCHES_MAX = 6;
const INSPECTION_LIMITS: InvocationLimits = { memoryBytes: 128 * MIB, wallClockMs: 10_000, outputBytes: MIB };
const INSPECTOR = ownerOf({ tenant: '' });
/** Processes for inspections, separate from those of invocations: installs and runs never wait for each other. */
const INSPECTIONS_MAX = 4;
const LATE_REASON_MAX = 300;

export interface SandboxOptions {
  /** `os` is the better of `bwrap` and `unshare` that works here. */
  readonly isolation: IsolationChoice;
  /** Used only by the sandbox: holds the children's root and the folders of packs with file grants. */
  readonly workDir: string;
  /** Uids for pack processes when the host runs as root. */
  readonly uids?: UidRange;
  /** Runs Python packs even where their system calls cannot be filtered. */
  readonly allowUnfilteredPython?: boolean;
  /** The maximum number of processes for invocations. One tenant uses at most half of them at a time. */
  readonly warmMax: number;
  readonly idleMs: number;
  readonly egress: Egress;
  readonly now: () => number;
  log(level: 'info' | 'warn', message: string, data?: Readonly<Record<string, unknown>>): void;
}

export interface SandboxStats extends PoolStats {
  readonly isolation: Isolation['kind'];
  /** Dispatches that were repeated because another invocation in the process had to be stopped. */
  readonly displaced: number;
}

/** How packs are isolated on this machine. */
export interface SandboxReport {
  readonly isolation: Isolation['kind'];
  /** Whether system calls are filtered; if not, `next` says how to enable the filter. */
  readonly filter: { readonly kind: 'applied' } | { readonly kind: 'missing'; readonly next: string };
  readonly python:
    | { readonly kind: 'found'; readonly version: string }
    | { readonly kind: 'missing'; readonly reason: string };
}

export interface Sandbox {
  /** Loads the module in a separate process and returns the type ids that it exports. */
  inspect(code: PackCode, grants?: readonly string[]): Promise<Inspection>;
  /** Rejects only when its signal is aborted or the sandbox stops. Failures of the pack are results. */
  invoke(invocation: Invocation): Promise<InvocationOutcome>;
  /**
   * The version of Python for packs, or `undefined` if there is none. Looked up on the first call. Rejects with a
   * retriable `SandboxUnavailable` if that was not possible.
   */
  pythonVersion(): Promise<string | undefined>;
  report(): Promise<SandboxReport>;
  stats(): SandboxStats;
  stop(): Promise<void>;
}

class PackSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #isolation: Isolation;
  readonly #pool: Pool<PackProcess>;
  readonly #inspections: Pool<PackProcess>;
  readonly #logFault: ReturnType<typeof faultLog>;
  #python: Promise<PythonFound> | undefined;
  #displaced = 0;

  constructor(options: SandboxOptions, isolation: Isolation) {
    this.#options = options;
    this.#isolation = isolation;
    this.#logFault = faultLog(options);
    const { warmMax } = options;
    this.#pool = new Pool({ ...options, shareMax: Math.ceil(warmMax / 2) });
    this.#inspections = new Pool({ ...options, warmMax: INSPECTIONS_MAX, shareMax: INSPECTIONS_MAX });
  }

  async inspect(code: PackCode, grants: readonly string[] = []): Promise<Inspection> {
    const launcher = await this.#launcherOf(code);
    if ('code' in launcher) return { loaded: false, error: launcher };
    const need = { code, key: INSPECTOR, grants, limits: INSPECTION_LIMITS };
    const wanted = this.#wanted(need, launcher, { use: 'alone' });
    const inspection = await this.#inspections.use(wanted, (process) => process.opened);
    return inspection.loaded ? inspection : { loaded: false, error: withoutOrigin(inspection.error) };
  }

  async invoke(invocation: Invocation): Promise<InvocationOutcome> {
    const startedAt = this.#options.now();
    const outcome = ({ result, variables }: Settled, usage = new Usage(), atLoad?: Usage) => ({
      result,
      variables: toJsonObject(variables),
      used: usage.receipt(atLoad),
      durationMs: this.#options.now() - startedAt,
    });
    const launcher = await this.#launcherOf(invocation.code);
    if ('code' in launcher) return outcome(settled(failed(launcher, 'pack')));
    let use = useOf(invocation);
    for (let dispatch = 0; dispatch < DISPATCHES_MAX; dispatch++) {
      const job = new Job(invocation, dispatch);
      const [end, process] = await this.#dispatch(job, launcher, use);
      invocation.signal?.throwIfAborted();
      if (end.kind !== 'displaced') return outcome(end, job.usage, process.usedAtLoad);
      this.#displaced += 1;
      if (end.isSuspect || dispatch + 1 >= SHARED_DISPATCHES_MAX) use = 'alone';
    }
    return outcome(settled(failed(neverStarted(DISPATCHES_MAX), 'pack')));
  }

  async pythonVersion(): Promise<string | undefined> {
    const python = await this.#findPython();
    if (python.kind === 'unknown') throw python.error;
    return python.kind === 'found' ? python.version : undefined;
  }

  async report(): Promise<SandboxReport> {
    const { kind: isolation, isFiltered } = this.#isolation;
    const found = await this.#findPython();
    return {
      isolation,
      filter: isFiltered ? { kind: 'applied' } : { kind: 'missing', next: FILTER_HINT },
      python:
        found.kind === 'found'
          ? { kind: 'found', version: found.version }
          : { kind: 'missing', reason: found.kind === 'unknown' ? found.error.problem : found.reason },
    };
  }

  stats(): SandboxStats {
    const [own, beside] = [this.#pool.stats(), this.#inspections.stats()];
    const sum = (name: keyof PoolStats): number => own[name] + beside[name];
    return {
      isolation: this.#isolation.kind,
      displaced: this.#displaced,
      started: sum('started'),
      warm: sum('warm'),
      busy: sum('busy'),
      asleep: sum('asleep'),
      waiting: sum('waiting'),
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pool.stop(), this.#inspections.stop()]);
  }

  async #dispatch(job: Job, launcher: Launcher, use: Use): Promise<[Ended, PackProcess]> {
    const { invocation } = job;
    const wanted = this.#wanted(invocation, launcher, { use, signal: invocation.signal });
    return this.#pool.use(wanted, async (process): Promise<[Ended, PackProcess]> => {
      const inspection = await process.opened;
      if (!inspection.loaded) return [notBegun(inspection.error, invocation), process];
      if (process.isDead) return [{ kind: 'displaced', isSuspect: false }, process];
      process.start(job);
      return [endOf(await job.ended, process), process];
    });
  }

  /** The launcher for this code, or the reason why there is none. */
  async #launcherOf(code: PackCode): Promise<Launcher | NodeError> {
    if (code.language !== 'python') return this.#isolation;
    const python = await this.#findPython();
    if (python.kind === 'found') return python.launcher;
    if (python.kind === 'unknown')
      return { ...nodeError('sandbox_unavailable', python.error.message), retryable: true };
    const message = `${code.name}@${code.version} needs Python, which this host does not support; see its log.`;
    return nodeError('unsupported_runtime', message);
  }

  #findPython(): Promise<PythonFound> {
    this.#python ??= choosePython(this.#isolation, this.#options.allowUnfilteredPython).then((python) => {
      if (python.kind === 'unknown') this.#python = undefined;
      if (python.kind === 'missing') this.#options.log('info', `No Python packs: ${python.reason}.`);
      return python;
    });
    return this.#python;
  }

  #wanted(
    need: Need,
    launcher: Launcher,
    how: Pick<Wanted<PackProcess>, 'use' | 'signal'>,
  ): Wanted<PackProcess> {
    const { tenant } = need.key;
    return { key: shareKey(need), tenant, ...how, start: (onEnd) => this.#start(need, launcher, onEnd) };
  }

  #start(need: Need, launcher: Launcher, onEnd: () => void): PackProcess {
    const { code, grants, limits } = need;
    const { egress, workDir } = this.#options;
    const { memoryBytes: dataBytes } = limits;
    const command = launcher.command({ folder: code.folder, flags: flagsOf(need), dataBytes });
    const names = { tenant: need.key.tenant, pack: `${code.name}@${code.version}` };
    const fault = (method: string, error: unknown): void => this.#logFault({ ...names, method, error });
    const filesFolder = filesFolderOf(workDir, need);
    const context: CallContext = { egress, tenant: names.tenant, filesFolder, fault };
    const environment = environmentOf(need);
    const { language, entry, format = 'esm' } = code;
    const pack = { folder: command.folder, language, entry, format, pagesMax: wasmPages(need) };
    const { memoryBytes, wallClockMs, loadMs = wallClockMs } = limits;
    const open = { type: 'open', ...pack, memoryBytes, grants, envNames: Object.keys(environment) };
    return new PackProcess({
      command,
      open,
      memoryBytes,
      loadMs,
      context,
      grants,
      environment,
      onLate: (node, error) => this.#logLate({ ...names, ...node }, error),
      onEnd,
    });
  }

  #logLate(names: Readonly<Record<string, string>>, { message, details }: NodeError): void {
    const at = typeof details?.at === 'string' ? { at: details.at.slice(0, LATE_REASON_MAX) } : {};
    const reason = message.slice(0, LATE_REASON_MAX);
    this.#options.log('warn', 'What a node left running failed after the node had ended.', {
      ...names,
      ...at,
      reason,
    });
  }
}

/** The requirements of an invocation or inspection for its process. */
type Need = Pick<Invocation, 'code' | 'key' | 'grants' | 'environment' | 'limits'>;

const WASM_PAGE_BYTES = 65536;

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

const environmentOf = ({ grants, environment = {} }: Need): Readonly<Record<string, string>> =>
  grants.includes('env.read') ? environment : {};

/** Two invocations with the same key may share a process. */
function shareKey(need: Need): string {
  const { code, key, grants, limits } = need;
  const { tenant, workspace, principal } = key;
  const pack = [code.name, code.version, code.folder, code.entry, code.language];
  const power = [[...grants].sort(), Object.entries(environmentOf(need)).sort(), limits.memoryBytes];
  return digest([pack, tenant, workspace, principal, power]);
}

/** Files belong to a pack in a workspace; all principals of that workspace share them. */
const filesFolderOf = (workDir: string, { code, key }: Need): string =>
  path.join(workDir, 'files', digest([code.name, key.tenant, workspaceKey(key.workspace)]).slice(0, 32));

const wasmPages = ({ code, limits }: Need): number => {
  const allowed = Math.floor(limits.memoryBytes / WASM_PAGE_BYTES);
  return Math.max(1, Math.min(allowed, code.wasm?.memoryPagesMax ?? allowed));
};

function flagsOf(need: Need): string[] {
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(need.limits.memoryBytes / MIB))}`;
  const flags = [heap, '--expose-gc'];
  return need.code.language === 'wasm' ? [...flags, `--wasm-max-mem-pages=${wasmPages(need)}`] : flags;
}

/** Keeps a pack that calls in a loop from filling the disk. Each pack of a tenant is limited separately. */
const LOGGED_EVERY_MS = 1_000;
const REASON_MAX = 2_000;

interface HostFault {
  readonly tenant: string;
  readonly pack: string;
  readonly method: string;
  readonly error: unknown;
}

const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, REASON_MAX);

function faultLog({ log, now }: Pick<SandboxOptions, 'log' | 'now'>): (fault: HostFault) => void {
  const seldom = new Seldom({ now, everyMs: LOGGED_EVERY_MS });
  return ({ error, ...what }) => {
    const suppressed = seldom.ask(`${what.tenant}\0${what.pack}`);
    if (suppressed === null) return;
    const data = { ...what, reason: reasonOf(error), ...(suppressed > 0 && { suppressed }) };
    log('warn', 'A call of a pack failed in the host.', data);
  };
}

type Ended = Exclude<JobEnd, { readonly kind: 'stopped' }>;

type Settled = Extract<JobEnd, { readonly kind: 'settled' }>;

const settled = (result: NodeResult): Settled => ({ kind: 'settled', result, variables: {} });

/** If the process is still alive, the host refused the invocation, and its outcome is certain. */
const endOf = (end: JobEnd, { isDead }: PackProcess): Ended =>
  end.kind === 'stopped' ? settled(failed(end.error, isDead ? 'process' : 'pack')) : end;

/** No code of the node has run. So a node that must not be repeated has had no effect, however its process ended. */
const notBegun = (error: NodeError, { repeatable }: Invocation): Ended =>
  settled(failed(repeatable ? error : withoutOrigin(error), 'pack'));

/** A Python process runs one invocation at a time, since packs cannot start threads. */
const useOf = ({ repeatable, code }: Invocation): Use =>
  repeatable && code.language !== 'python' ? 'shared' : 'exclusive';

/** Rejects with `SandboxUnavailable` when `os` is requested and this machine does not support it. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  mkdirSync(options.workDir, { recursive: true, mode: 0o700 });
  const isolation = await chooseIsolation(options);
  if (isolation.kind === 'permission-only')
    options.log('warn', 'Packs run without an OS sandbox: install only code that you trust.');
  else if (!isolation.isFiltered)
    options.log('warn', `System calls of packs are not filtered. ${FILTER_HINT}`);
  return new PackSandbox(options, isolation);
}
