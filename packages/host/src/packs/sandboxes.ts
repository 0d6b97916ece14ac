/** Sandboxes of this process, created when the first pack node runs: installed packs cost nothing until used. */
import path from 'node:path';
import type { EgressByPurpose } from '@gantry/egress';
import { OpenwopError, type SandboxHealth } from '@gantry/protocol';
import { createSandbox, type Sandbox, type SandboxReport, SandboxUnavailable } from '@gantry/sandbox';
import type { Logger } from 'pino';
import type { Settings } from '../settings.ts';

const WARM_MAX = 32;
const IDLE_MS = 60_000;

type Isolation = Settings['sandbox'];

export interface SandboxesOptions {
  readonly settings: Pick<Settings, 'dataDir' | 'sandbox' | 'sandboxUids' | 'pythonUnfiltered'>;
  readonly egress: EgressByPurpose;
  readonly now: () => number;
  readonly log: Logger;
}

export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #made = new Map<Isolation, Promise<Sandbox>>();

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /**
   * A folder of the operator may run without an OS sandbox if there is none; other packs may not. If that is not
   * known, since tests were killed, the error is retriable.
   */
  async for(source: 'archive' | 'folder'): Promise<Sandbox> {
    const { sandbox: isolation } = this.#options.settings;
    try {
      return await this.#get(isolation);
    } catch (error) {
      if (error instanceof SandboxUnavailable && !error.retriable && source === 'folder')
        return this.#get('permission-only');
      throw unavailable(error);
    }
  }

  /** The isolation of packs from archives on this machine. */
  async isolation(): Promise<Isolation | 'none'> {
    try {
      return (await this.for('archive')).stats().isolation === 'permission-only' ? 'permission-only' : 'os';
    } catch (error) {
      if (error instanceof OpenwopError && !error.retriable) return 'none';
      throw error;
    }
  }

  /** The Python version for packs; undefined without Python or without an OS sandbox. */
  async python(): Promise<string | undefined> {
    if ((await this.isolation()) !== 'os') return undefined;
    const sandbox = await this.for('archive');
    return sandbox.pythonVersion().catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  /** The isolation of packs from archives on this machine, and its problems. */
  async health(): Promise<SandboxHealth> {
    try {
      return healthOf(await (await this.#get(this.#options.settings.sandbox)).report());
    } catch (error) {
      if (!(error instanceof SandboxUnavailable)) throw error;
      const { problem, next } = error;
      return { isolation: 'none', filtered: false, problems: [{ problem, next }] };
    }
  }

  async stop(): Promise<void> {
    const made = await Promise.allSettled(this.#made.values());
    for (const result of made) if (result.status === 'fulfilled') await result.value.stop();
  }

  #get(isolation: Isolation): Promise<Sandbox> {
    const present = this.#made.get(isolation);
    if (present) return present;
    const { settings, egress, now, log } = this.#options;
    const made = createSandbox({
      isolation,
      uids: settings.sandboxUids,
      allowUnfilteredPython: settings.pythonUnfiltered,
      workDir: path.resolve(settings.dataDir, 'sandbox'),
      warmMax: WARM_MAX,
      idleMs: IDLE_MS,
      egress: egress.for('raw-fetch'),
      now,
      log: (level, message, data) => log[level]({ ...data }, message),
    });
    this.#made.set(isolation, made);
    made.catch(() => this.#made.delete(isolation));
    return made;
  }
}

function unavailable(error: unknown): unknown {
  if (!(error instanceof SandboxUnavailable)) return error;
  const { message, retriable } = error;
  return new OpenwopError('sandbox_unavailable', { message, ...(retriable && { details: { retriable } }) });
}

const WITHOUT_WALL = {
  problem:
    'Packs run without an OS sandbox (GANTRY_SANDBOX=permission-only), and `host.sandbox` is not offered.',
  next: 'Install only packs that you trust; else unset GANTRY_SANDBOX where bubblewrap or user namespaces are there.',
};

function healthOf({ isolation, filter, python }: SandboxReport): SandboxHealth {
  const isWalled = isolation !== 'permission-only';
  const problems = [
    ...(isWalled ? [] : [WITHOUT_WALL]),
    ...(isWalled && filter.kind === 'missing'
      ? [{ problem: 'System calls of packs are not filtered.', next: filter.next }]
      : []),
    ...(isWalled && python.kind === 'missing' ? [{ problem: `No Python packs: ${python.reason}.` }] : []),
  ];
  const filtered = filter.kind === 'applied';
  return { isolation, filtered, ...(python.kind === 'found' && { python: python.version }), problems };
}
