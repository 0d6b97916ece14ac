/** What the operator's log says of failures that packs are not told. */
import { Seldom } from '@gantry/protocol';
import type { SandboxOptions } from './sandbox.ts';

/** A pack that asks in a loop must not fill the disk; each pack of a tenant counts by itself. */
const TOLD_EVERY_MS = 1_000;
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
  readonly #seldom: Seldom;

  constructor(options: Pick<SandboxOptions, 'log' | 'now'>) {
    this.#options = options;
    this.#seldom = new Seldom({ now: options.now, everyMs: TOLD_EVERY_MS });
  }

  tell({ error, ...what }: HostFault): void {
    const untold = this.#seldom.ask(`${what.tenant}\0${what.pack}`);
    if (untold === null) return;
    const data = { ...what, reason: reasonOf(error), ...(untold > 0 && { untold }) };
    this.#options.log('warn', 'The host could not do what a pack asked for.', data);
  }
}
