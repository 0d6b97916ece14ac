/**
 * The host on a disk whose every commit takes longer. Takes the host's own flags and environment; when
 * told to stop it prints how late its event loop was: a slow disk may cost time, never the loop.
 */
import { mkdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqlite, type Store } from '@gantry/store';
import { createHost } from '../packages/host/src/host.ts';
import { readSettings } from '../packages/host/src/settings.ts';
import { SLOW_COMMIT_MS } from './settings.ts';

const NANOSECONDS_PER_MS = 1e6;

/** As on a disk, one commit waits for the one before it. */
function slowed(store: Store, commitDelayMs: number): Store {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    commit: (groups) => {
      const turn = last.then(() => sleep(commitDelayMs)).then(() => store.commit(groups));
      last = turn.catch(() => undefined);
      return turn;
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
