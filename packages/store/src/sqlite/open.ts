import { resolve } from 'node:path';
import { limiter } from '@gantry/limiter';
import { hasLargeBody } from '../body-parts.ts';
import { checkGroups } from '../check.ts';
import { warmThread } from '../kept-threads.ts';
import { writePidFile } from '../pid-file.ts';
import type { RunReads, Store } from '../port.ts';
import { decodeResult, encodeBatch } from './batch.ts';
import { storeParts } from './body-parts.ts';
import { type Channel, connect } from './channel.ts';
import type { ReaderParts } from './reader.ts';
import type { WriterParts } from './writer.ts';

type Reader = Channel<ReaderParts>;
type Writer = Channel<WriterParts>;

const READER = new URL('./reader.ts', import.meta.url);

/**
 * Opens (or creates) the embedded store of one data folder. Rejects with a `StoreError`.
 *
 * @example const store = await openSqlite({ dataDir: './.gantry' });
 */
export async function openSqlite(options: { readonly dataDir: string }): Promise<Store> {
  const dataDir = resolve(options.dataDir);
  warmThread(READER);
  const writer: Writer = await connect(new URL('./writer.ts', import.meta.url), dataDir);
  const reader: Reader = await connectReader(writer, dataDir);
  const { records, entries, feed } = reader.parts;
  const { batches, bodies, leases, retention } = writer.parts;
  const reads = fairReads(reader.parts.runs);
  const removePidFile = writePidFile(dataDir);
  return {
    async commit(groups) {
      checkGroups(groups);
      const stored = hasLargeBody(groups) ? await storeParts(groups, bodies) : groups;
      const codes = await batches.commit(encodeBatch(stored));
      return codes.map(decodeResult);
    },
    runs: reads.runs,
    records,
    entries,
    feed,
    watch: neverCalled,
    leases: { ...leases, ...reader.parts.leases },
    retention,
    async close() {
      await reads.settled();
      await reader.close();
      removePidFile();
      await writer.close();
    },
  };
}

async function connectReader(writer: Writer, dataDir: string): Promise<Reader> {
  try {
    return await connect(READER, dataDir);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/**
 * The thread executes one read at a time. It gets only a few at once, so that queued reads of one tenant do not
 * block those of others. Two keep it busy while an answer is in transit.
 */
const READS_MAX = 4;

interface FairReads {
  readonly runs: RunReads;
  /** Resolves when all reads so far are answered. */
  settled(): Promise<unknown>;
}

function fairReads(runs: RunReads): FairReads {
  const turns = limiter({ max: READS_MAX, perTenantMax: READS_MAX / 2 });
  const underWay = new Set<Promise<unknown>>();
  const read = <T>(tenant: string, work: () => Promise<T>): Promise<T> => {
    const answer = turns.run(tenant, work);
    const done = answer.then(noop, noop).finally(() => underWay.delete(done));
    underWay.add(done);
    return answer;
  };
  return {
    runs: {
      row: (...of) => read(of[0], () => runs.row(...of)),
      load: (...of) => read(of[0], () => runs.load(...of)),
      events: (...of) => read(of[0], () => runs.events(...of)),
      list: (...of) => read(of[0], () => runs.list(...of)),
      activeInScope: (...of) => read(of[0], () => runs.activeInScope(...of)),
      highestId: runs.highestId,
    },
    settled: () => Promise.all(underWay),
  };
}

const noop = (): void => {};

/** The lock on the data folder excludes other processes, so there are no changes by others. */
const neverCalled: Store['watch'] = async () => async () => {};
