import { queueContract } from '../ports/queue-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { QUEUE_CONTRACT_BOUNDS } from '../ports/queue-user-contract.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { openPostgresDatabase } from './connection.ts';
import { postgresQueue } from './queue.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };
const skip = { skip: postgresSkip };
let opened: ReturnType<typeof openTestPostgres> | null = null;
const test = () => {
  opened ??= openTestPostgres();
  return opened;
};

queueContract(
  'PostgreSQL',
  async () => {
    const { database } = await test();
    return { port: await postgresQueue(database, deps), close: async () => {} };
  },
  skip,
);

queueOutageContract(
  'PostgreSQL',
  async () => {
    const { url, close } = await test();
    const open = async (through: string) => {
      const database = await openPostgresDatabase({ url: through });
      const port = await postgresQueue(database, deps);
      return { ...port, close: () => database.close() };
    };
    return { url, open, close };
  },
  skip,
);
