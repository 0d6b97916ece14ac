/** Heartbeats of this process: evaluated at their interval, settled when the predicate's run ends. */
import type { HeartbeatTick, JsonObject } from '@gantry/protocol';
import { ResourceService, readRecord } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { DueClock } from '../runtime/due-clock.ts';
import { begin, settle } from './evaluation.ts';
import { HeartbeatLog } from './event-log.ts';
import { Following, type FollowingOptions, type HeartbeatKey } from './following.ts';
import { heartbeats, type StoredHeartbeat } from './heartbeat.ts';

export interface HeartbeatsOptions extends FollowingOptions, Pick<Parts, 'clock'> {
  readonly store: Pick<Store, 'entries' | 'watch'>;
}

export type Heartbeats = ReturnType<typeof createHeartbeats>;

export function createHeartbeats(options: HeartbeatsOptions) {
  const clock = new DueClock({ ...options, kind: heartbeats, onDue });
  const { store, changes, workflows, now } = options;
  const services = { workflows, entries: store.entries };
  const following = new Following(options);
  const log = new HeartbeatLog(store.entries);
  let stopWatching: (() => Promise<void>) | undefined;

  async function onDue(stored: StoredHeartbeat): Promise<void> {
    const { state } = stored.record;
    if (state.status === 'evaluating') {
      const tick = await settle(options, stored);
      if (tick) following.settled(state.runId, tick);
      return;
    }
    const begun = await begin(options, stored);
    // A slow predicate must not delay the other heartbeats.
    if (begun.kind === 'evaluating') void following.follow(stored, begun.runId);
  }

  const onUnread = (error: unknown): void =>
    options.log.warn(
      { err: error },
      'ticks of another process could not be read; streams continue with the next',
    );

  return {
    service: new ResourceService(heartbeats, { changes, entries: store.entries, now, services }),
    log,
    /** Call with each commit of this process: some of it may be due. */
    committed(group: CommitGroup): void {
      clock.committed(group);
      log.committed(group);
    },
    /** Begins and settles everything that is due now; once started, the clock calls it automatically. */
    tick: () => clock.run(),
    /**
     * Evaluates once now, due or not, with these inputs for the predicate; resolves when it is settled.
     * Returns null, and does nothing, while another evaluation is running.
     */
    async evaluate(key: HeartbeatKey, inputs?: JsonObject): Promise<HeartbeatTick | null> {
      const stored = await readRecord(store.entries, heartbeats, key.tenant, key.id);
      if (stored?.record.state.status !== 'waiting') return null;
      const begun = await begin(options, stored, inputs);
      if (begun.kind === 'evaluating') return following.follow(stored, begun.runId);
      return begun.kind === 'settled' ? begun.tick : null;
    },
    async start() {
      stopWatching = await store.watch((change) => void log.changed(change).catch(onUnread));
      await clock.start();
    },
    async stop() {
      await stopWatching?.();
      await clock.stop();
      following.stop();
    },
  };
}
