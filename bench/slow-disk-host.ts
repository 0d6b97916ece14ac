/**
 * The host on a disk whose every commit takes longer. Takes the host's own flags and environment; when
 * told to stop it prints how late its event loop was: a slow disk may cost time, never the loop.
 */
import { mkdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommitGroup, type CommitResult, openSqlite, type Store } from '@gantry/store';
import { createHost } from '../packages/host/src/host.ts';
import { readSettings } from '../packages/host/src/settings.ts';
import { SLOW_COMMIT_MS } from './settings.ts';

const NANOSECONDS_PER_MS = 1e6;

/** As with the writer and a slow disk: one commit at a time, and what came meanwhile goes together. */
function slowed(store: Store, commitDelayMs: number): Store {
  let groups: CommitGroup[] = [];
  let next: Promise<CommitResult[]> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const commitWaiting = async (): Promise<CommitResult[]> => {
    await last;
    next = undefined;
    const taken = groups;
    groups = [];
    const turn = sleep(commitDelayMs).then(() => store.commit(taken));
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    ...store,
    commit: async (more) => {
      const from = groups.length;
      groups.push(...more);
      next ??= commitWaiting();
      return (await next).slice(from, from + more.length);
    },
  };
}

const settings = readSettings(process.argv.slice(2), process.env);
await mkdir(settings.dataDir, { recursive: true });
const store = await openSqlite({ dataDir: settings.dataDir });
const host = await createHost({ settings, store: slowed(store, SLOW_COMMIT_MS) });
const delay = monitorEventLoopDelay({ resolution: 1 });

process.once('SIGTERM', async () => {
  delay.disable();
  const ms = (percentile: number) => (delay.percentile(percentile) / NANOSECONDS_PER_MS).toFixed(1);
  console.log(`event loop lag p50 ${ms(50)} ms, p99 ${ms(99)} ms, max ${ms(100)} ms`);
  await host.stop();
  process.exit(0);
});

console.log(await host.start());
delay.enable();
