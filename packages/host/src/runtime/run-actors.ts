/** The runs that this process works on, and how they are loaded. */
import type { Plan, Run } from '@gantry/engine';
import type { RunKey, Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { Redactions } from '../redaction/redactions.ts';
import type { ActorHost } from './actor-host.ts';
import { RunActor } from './run-actor.ts';
import { OwnedElsewhereError } from './run-errors.ts';
import { toRun } from './run-record.ts';

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;

export interface RunActorsOptions {
  readonly store: Pick<Store, 'runs'>;
  readonly planOf: (workflowHash: string) => Promise<Plan>;
  /** Awaited before a run of the tenant is loaded. */
  readonly secretsKnown: Redactions['ready'];
  readonly host: Omit<ActorHost, 'parked' | 'lost'>;
  readonly log: Logger;
  readonly onWait: (wakeAt: number) => void;
  /** A run was read again after it was lost: the store may hold mail that it had. */
  readonly onReadAgain: (key: RunKey) => Promise<void>;
}

export class RunActors {
  readonly #options: RunActorsOptions;
  readonly #host: ActorHost;
  readonly #active = new Map<string, RunActor>();
  readonly #loading = new Map<string, Promise<RunActor | null>>();
  readonly #retries = new Map<string, { cancel: () => void; delayMs: number }>();
  #idle: (() => void)[] = [];
  #stopped = false;

  constructor(options: RunActorsOptions) {
    this.#options = options;
    this.#host = {
      ...options.host,
      parked: (actor, wakeAt) => this.#parked(actor, wakeAt),
      lost: (actor, error) => this.#lost(actor, error),
    };
  }

  get size(): number {
    return this.#active.size;
  }

  /** The actor of a run that is in memory, if this tenant may see it. */
  get(key: RunKey): RunActor | undefined {
    const actor = this.#active.get(key.runId);
    return actor?.key.tenant === key.tenant ? actor : undefined;
  }

  /** A run that was just created by this process and is owned by it. */
  add(plan: Plan, run: Run): RunActor {
    const present = this.#active.get(run.facts.runId);
    if (present) return present;
    return this.#enter(new RunActor(this.#host, plan, run, this.#host.epoch, 0));
  }

  /** Gives `use` the run's actor, loaded if need be. Null when this tenant has no such run. */
  async use<T>(key: RunKey, use: (actor: RunActor) => T): Promise<T | null> {
    for (;;) {
      const actor = await this.#open(key);
      if (!actor) return null;
      // It may have left memory during the await; from here on the code is synchronous.
      if (!actor.isGone) return use(actor);
    }
  }

  async #open(key: RunKey): Promise<RunActor | null> {
    const actor = this.get(key);
    if (actor) return actor;
    const loading = this.#loading.get(key.runId) ?? this.#load(key);
    this.#loading.set(key.runId, loading);
    return loading.finally(() => this.#loading.delete(key.runId));
  }

  /** Something for the run could not be delivered: it is read from the store later. */
  readAgain(key: RunKey, error: unknown): void {
    this.#retryLater(key, error);
  }

  /** Runs that were claimed for this process: due ones and orphans. */
  async adopt(keys: readonly RunKey[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#goOn(key, (actor) => actor.wake())));
  }

  /** Runs that are owned by this process; those in memory, or released by now, are not touched. */
  async adoptOwned(keys: readonly RunKey[]): Promise<void> {
    const missing = keys.filter(({ runId }) => !this.#active.has(runId));
    await Promise.all(missing.map((key) => this.#goOn(key, (actor) => actor.wakeOwned())));
  }

  async #goOn(key: RunKey, how: (actor: RunActor) => void): Promise<void> {
    try {
      await this.use(key, how);
    } catch (error) {
      if (!(error instanceof OwnedElsewhereError)) this.#retryLater(key, error);
    }
  }

  /** Resolves when fewer than `count` runs are in memory. */
  async below(count: number): Promise<void> {
    while (this.#active.size >= count) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#retries.values()) cancel();
    for (const actor of this.#active.values()) actor.abandon(new Error('the host is stopping'));
    this.#active.clear();
  }

  async #load(key: RunKey): Promise<RunActor | null> {
    const loaded = await this.#options.store.runs.load(key.tenant, key.runId);
    if (!loaded) return null;
    const { owner } = loaded.row;
    if (owner !== null && owner !== this.#host.epoch) throw new OwnedElsewhereError(key.runId);
    const plan = await this.#options.planOf(loaded.row.workflowHash);
    await this.#options.secretsKnown(key.tenant);
    const present = this.get(key);
    if (present) return present;
    const snapshotSeq = loaded.snapshot?.nextSeq ?? 0;
    return this.#enter(new RunActor(this.#host, plan, toRun(loaded), owner, snapshotSeq));
  }

  #enter(actor: RunActor): RunActor {
    this.#active.set(actor.key.runId, actor);
    return actor;
  }

  #leave(actor: RunActor): void {
    if (this.#active.get(actor.key.runId) === actor) this.#active.delete(actor.key.runId);
    if (this.#idle.length === 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #parked(actor: RunActor, wakeAt: number | null): void {
    this.#leave(actor);
    this.#retries.get(actor.key.runId)?.cancel();
    this.#retries.delete(actor.key.runId);
    if (wakeAt !== null) this.#options.onWait(wakeAt);
  }

  #lost(actor: RunActor, error: unknown): void {
    this.#leave(actor);
    actor.abandon(error);
    this.#retryLater(actor.key, error);
  }

  /** Nothing is lost when the store fails: the log holds the state of the run, so read it again later. */
  #retryLater(key: RunKey, error: unknown): void {
    if (this.#stopped) return;
    const earlier = this.#retries.get(key.runId);
    earlier?.cancel();
    const delayMs = Math.min((earlier?.delayMs ?? RETRY_MS_MIN / 2) * 2, RETRY_MS_MAX);
    this.#options.log.warn(
      { runId: key.runId, tenant: key.tenant, err: error, delayMs },
      'run will be read again',
    );
    const cancel = this.#host.clock.after(delayMs, () => void this.#retry(key));
    this.#retries.set(key.runId, { cancel, delayMs });
  }

  async #retry(key: RunKey): Promise<void> {
    try {
      await this.use(key, (actor) => actor.proceed());
      await this.#options.onReadAgain(key);
    } catch (error) {
      // Another process owns the run by now, and continues it.
      if (error instanceof OwnedElsewhereError) this.#retries.delete(key.runId);
      else this.#retryLater(key, error);
    }
  }
}
