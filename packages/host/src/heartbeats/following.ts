/** Settles evaluations that this process started as soon as their run ends. */
import type { HeartbeatTick } from '@gantry/protocol';
import { readRecord } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { Runtime } from '../runtime/runtime.ts';
import { type EvaluationOptions, settle } from './evaluation.ts';
import { heartbeats, type StoredHeartbeat } from './heartbeat.ts';

export interface HeartbeatKey {
  readonly tenant: string;
  readonly id: string;
}

export interface FollowingOptions extends EvaluationOptions {
  readonly store: Pick<Store, 'entries'>;
  readonly runtime: EvaluationOptions['runtime'] & Pick<Runtime, 'subscribe'>;
}

export class Following {
  readonly #options: FollowingOptions;
  /** By the run of the predicate: called when it is settled. */
  readonly #waiting = new Map<string, (tick: HeartbeatTick | null) => void>();

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Resolves when the evaluation is settled; null if another process settled it, or this one stops. */
  follow(key: HeartbeatKey, runId: string): Promise<HeartbeatTick | null> {
    return new Promise((resolve) => {
      let looking = Promise.resolve();
      const look = (): void => {
        looking = looking.then(() => this.#settleIfEnded(key, runId));
      };
      const stop = this.#options.runtime.subscribe({ tenant: key.tenant, runId }, (events) => {
        if (events.some(({ type }) => type.startsWith('run.'))) look();
      });
      this.#waiting.set(runId, (tick) => {
        stop();
        this.#waiting.delete(runId);
        resolve(tick);
      });
      // The run may have ended before the subscription.
      look();
    });
  }

  /** Called when the clock was first. */
  settled(runId: string, tick: HeartbeatTick | null): void {
    this.#waiting.get(runId)?.(tick);
  }

  stop(): void {
    for (const runId of [...this.#waiting.keys()]) this.settled(runId, null);
  }

  async #settleIfEnded(key: HeartbeatKey, runId: string): Promise<void> {
    if (!this.#waiting.has(runId)) return;
    try {
      const read = () => readRecord(this.#options.store.entries, heartbeats, key.tenant, key.id);
      const stored = await read();
      const tick = isEvaluating(stored, runId) ? await settle(this.#options, stored) : null;
      if (tick || !isEvaluating(await read(), runId)) this.settled(runId, tick);
    } catch (error) {
      this.#options.log.warn(
        { err: error, heartbeatId: key.id },
        'heartbeat evaluation could not be settled; it is settled at its deadline',
      );
    }
  }
}

function isEvaluating(stored: StoredHeartbeat | null, runId: string): stored is StoredHeartbeat {
  const state = stored?.record.state;
  return state?.status === 'evaluating' && state.runId === runId;
}
