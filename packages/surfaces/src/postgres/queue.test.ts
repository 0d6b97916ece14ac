import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueContract } from '../ports/queue-contract.ts';
import { QUEUE_LEASE_BOUNDS, queueLeaseContract } from '../ports/queue-lease-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { queueWaitingContract } from '../ports/queue-waiting-contract.ts';
import { freshTenant } from '../testing/calls.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { openPostgresDatabase } from './connection.ts';
import { postgresQueue } from './queue.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };
const skip = { skip: postgresSkip };
let opened: ReturnType<typeof openTestPostgres> | null = null;
const shared = () => {
  opened ??= openTestPostgres();
  return opened;
};

queueContract(
  'PostgreSQL',
  async () => {
    const { database } = await shared();
    return { port: postgresQueue(database, deps), close: async () => {} };
  },
  skip,
);

queueLeaseContract(
  'PostgreSQL',
  async () => {
    const { database } = await shared();
    return { port: postgresQueue(database, { ...deps, bounds: QUEUE_LEASE_BOUNDS }), close: async () => {} };
  },
  skip,
);

test('what groups were given is on record without its payload', skip, async () => {
  const { database } = await shared();
  const { publish, take, tenant } = userOf(postgresQueue(database, deps), freshTenant());
  await publish('t', 'x'.repeat(50_000));
  for (const group of ['', 'a', 'b']) assert.equal((await take('t', { group })).length, 1);
  const [recorded] = await database.read(
    (sql) =>
      sql<{ bytes: number }[]>`select sum(length(answer)) as bytes from invocations where tenant = ${tenant}`,
  );
  assert.ok(recorded && recorded.bytes > 0 && recorded.bytes < 1_000, `${recorded?.bytes} bytes`);
});

queueWaitingContract(
  'PostgreSQL',
  async () => {
    const { database, url } = await shared();
    const other = openPostgresDatabase({ url });
    const bounds = { ...QUEUE_CONTRACT_BOUNDS, quotaBytes: 1_048_576 };
    const recorded = async (tenant: string): Promise<number> => {
      const [found] = await database.read(
        (sql) => sql<{ calls: number }[]>`select count(*) as calls from invocations where tenant = ${tenant}`,
      );
      return found!.calls;
    };
    const ports = [database, other].map((each) => postgresQueue(each, { ...deps, bounds }));
    return { ports, recorded, close: () => other.close() };
  },
  skip,
);

queueOutageContract(
  'PostgreSQL',
  async () => {
    const { url, close } = await shared();
    const open = async (through: string) => {
      const database = openPostgresDatabase({ url: through });
      const port = postgresQueue(database, deps);
      return { ...port, close: () => database.close() };
    };
    return { url, open, close };
  },
  skip,
);
