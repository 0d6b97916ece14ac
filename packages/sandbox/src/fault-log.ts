/** What the operator's log says of failures that packs are not told. */
import type { SandboxOptions } from './sandbox.ts';

/** A pack that asks in a loop must not fill the disk; each pack of a tenant counts by itself, so that none hides another. */
const TOLD_EVERY_MS = 1_000;
const KEYS_MAX = 1_000;
const REASON_MAX = 2_000;

export interface HostFault {
  readonly tenant: string;
  readonly pack: string;
  readonly method: string;
  readonly error: unknown;
}

const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, REASON_MAX);

export class FaultLog {
  readonly #options: Pick<SandboxOptions, 'log' | 'now'>;
  readonly #told = new Map<string, { readonly at: number; untold: number }>();

  constructor(options: Pick<SandboxOptions, 'log' | 'now'>) {
    this.#options = options;
  }

  tell({ error, ...what }: HostFault): void {
    const key = `${what.tenant}\0${what.pack}`;
    const now = this.#options.now();
    const before = this.#told.get(key);
    if (before && now < before.at + TOLD_EVERY_MS) {
      before.untold += 1;
      return;
    }
    this.#told.delete(key);
    this.#told.set(key, { at: now, untold: 0 });
    const [oldest] = this.#told.keys();
    if (this.#told.size > KEYS_MAX && oldest !== undefined) this.#told.delete(oldest);
    const untold = before?.untold ?? 0;
    const data = { ...what, reason: reasonOf(error), ...(untold > 0 && { untold }) };
    this.#options.log('warn', 'The host could not do what a pack asked for.', data);
  }
}
