/** Changes records in a process of its own, until it is killed or has done what it was asked for. Says what was acknowledged. */

import { randomBytes } from 'node:crypto';
import { CommitPipeline, openPostgres, openSqlite } from '@gantry/store';
import { personCaller, systemCaller } from '../caller.ts';
import { Changes } from '../changes.ts';
import type { RecordKind } from '../record-kind.ts';

/** `moves`: how often something was taken out of it. */
export const purses: RecordKind<{ readonly amount: number; readonly moves: number }> = {
  kind: 'purse',
  idPrefix: 'pur',
  feed: true,
};

export const TENANT = 'acme';
export const LANES = 16;
export const OPERATION = 'transfer';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const pick = (count: number): number => Math.floor(Math.random() * count);

const inLanes = (work: (lane: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));

/** Until the input ends. */
async function transfer(changes: Changes, ids: readonly string[], round: string): Promise<void> {
  let isOver = false;
  process.stdin.resume().once('end', () => {
    isOver = true;
  });
  await inLanes(async (lane) => {
    for (let n = 0; !isOver; n++) {
      const key = `${round}/${lane}/${n}`;
      const expiresAt = Date.now() + 86_400_000;
      const request = { tenant: TENANT, operation: OPERATION, key, digest: key, expiresAt };
      const from = pick(ids.length);
      const to = (from + 1 + pick(ids.length - 1)) % ids.length;
      await changes.run(personCaller({ tenant: TENANT, principal: 'test' }, request), async (change) => {
        const [source, target] = await Promise.all([
          change.get(purses, ids[from]!),
          change.get(purses, ids[to]!),
        ]);
        const amount = Math.min(source.record.amount, 1 + pick(20));
        change.update(source, { amount: source.record.amount - amount, moves: source.record.moves + 1 });
        change.update(target, { amount: target.record.amount + amount });
      });
      say(key);
    }
  });
}

async function move(changes: Changes, ids: readonly string[], count: string): Promise<void> {
  let left = Number(count);
  await inLanes(async () => {
    while (left-- > 0) {
      const id = ids[pick(ids.length)]!;
      await changes.run(systemCaller('test', { tenant: TENANT }), async (change) => {
        const purse = await change.get(purses, id);
        change.update(purse, { moves: purse.record.moves + 1 });
      });
    }
  });
}

const COMMANDS = { transfer, move } as const;
export type ChildCommand = keyof typeof COMMANDS;

if (import.meta.main) {
  const [, , command, location, argument] = process.argv as [string, string, ChildCommand, string, string];
  const store = await (location.startsWith('postgres:')
    ? openPostgres({ url: location })
    : openSqlite({ dataDir: location }));
  // Stands still, so that no change is given up because the machine is slow
  const startedAt = Date.now();
  const pipeline = new CommitPipeline(store);
  const changes = new Changes({ store, pipeline, now: () => startedAt, randomBytes });
  const ids = (await store.entries.list(purses.kind, TENANT, { limit: 100 })).map(({ id }) => id);
  await COMMANDS[command](changes, ids, argument);
  await store.close();
  process.exit();
}
