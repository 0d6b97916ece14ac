import { resolve } from 'node:path';
import { limiter } from '@gantry/limiter';
import { hasLargeBody } from '../body-parts.ts';
import { checkGroups } from '../check.ts';
import { warmThread } from '../kept-threads.ts';
import { writePidFile } from '../pid-file.ts';
import type { EntryReads, Leases, RecordReads, RetentionSweep, RunReads, Store } from '../port.ts';
import { decodeResult, encodeBatch } from './batch.ts';
import { storeParts } from './body-parts.ts';
import { type Channel, connect } from './channel.ts';
import type { ReaderOperations } from './reader.ts';
import type { WriterOperations } from './writer.ts';

type Reader = Channel<ReaderOperations>;
type Writer = Channel<WriterOperations>;

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
  const reads = runReads(reader);
  const removePidFile = writePidFile(dataDir);
  return {
    async commit(groups) {
      checkGroups(groups);
      const stored = hasLargeBody(groups) ? await storeParts(groups, writer) : groups;
      const codes = await writer.call('commit', encodeBatch(stored));
      return codes.map(decodeResult);
    },
    runs: reads.runs,
    records: recordReads(reader),
    entries: entryReads(reader),
    feed: {
      after: (cursor, options) => reader.call('feedAfter', cursor, options),
      last: () => reader.call('feedLast'),
    },
    watch: neverCalled,
    leases: leases(writer, reader),
    retention: retention(writer),
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
 * The thread does one read after the other. It is handed a few at a time, so that those of one tenant that wait do
 * not stand before those of others; two keep it busy while an answer is on its way.
 */
const READS_MAX = 4;

interface FairReads {
  readonly runs: RunReads;
  /** All that was asked so far is answered. */
  settled(): Promise<unknown>;
}

function runReads(reader: Reader): FairReads {
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
      row: (tenant, runId) => read(tenant, () => reader.call('row', tenant, runId)),
      load: (tenant, runId) => read(tenant, () => reader.call('load', tenant, runId)),
      events: (...page) => read(page[0], () => reader.call('events', ...page)),
      list: (tenant, filter) => read(tenant, () => reader.call('list', tenant, filter)),
      activeInScope: (tenant, scopeId) => read(tenant, () => reader.call('activeInScope', tenant, scopeId)),
      highestId: () => reader.call('highestId'),
    },
    settled: () => Promise.all(underWay),
  };
}

const noop = (): void => {};

const recordReads = (reader: Reader): RecordReads => ({
  idempotency: (tenant, operation, key) => reader.call('idempotency', tenant, operation, key),
  invocation: (tenant, invocationId) => reader.call('invocation', tenant, invocationId),
  openClaims: (tenant, runId, limit) => reader.call('openClaims', tenant, runId, limit),
  definition: (hash) => reader.call('definition', hash),
  content: (hash) => reader.call('content', hash),
  pinnedHashes: () => reader.call('pinnedHashes'),
  workflow: (tenant, workflowId) => reader.call('workflow', tenant, workflowId),
  workflows: (tenant) => reader.call('workflows', tenant),
  workflowVersions: (tenant, workflowId) => reader.call('workflowVersions', tenant, workflowId),
  keys: (tenant) => reader.call('keys', tenant),
  keyByHash: (hash) => reader.call('keyByHash', hash),
});

const entryReads = (reader: Reader): EntryReads => ({
  get: (key) => reader.call('entry', key),
  getMany: (keys) => reader.call('entriesOf', keys),
  getSmall: (keys) => reader.call('smallEntriesOf', keys),
  list: (kind, tenant, filter) => reader.call('listEntries', kind, tenant, filter),
  range: (kind, tenant, range) => reader.call('rangeEntries', kind, tenant, range),
  counter: (key) => reader.call('counter', key),
  counters: (kind, tenant, range) => reader.call('counters', kind, tenant, range),
  count: (kind, tenant) => reader.call('countEntries', kind, tenant),
  due: (kind, now, limit, after) => reader.call('dueEntries', kind, now, limit, after),
  nextDueAt: (kind) => reader.call('nextDueAt', kind),
  all: (kind, after, limit) => reader.call('allEntries', kind, after, limit),
});

/** The lock on the data folder keeps other processes out: there are no changes of others. */
const neverCalled: Store['watch'] = async () => async () => {};

const leases = (writer: Writer, reader: Reader): Leases => ({
  acquire: (processId, now) => writer.call('acquire', processId, now),
  renew: (epoch) => writer.call('renew', epoch),
  release: (epoch) => writer.call('release', epoch),
  claimDue: (epoch, now, limit) => writer.call('claimDue', epoch, now, limit),
  claimOrphans: (epoch, _now, limit) => writer.call('claimOrphans', epoch, limit),
  owned: (epoch, limit, afterRunId = '') => reader.call('ownedRuns', epoch, limit, afterRunId),
  nextWakeAt: () => reader.call('nextWakeAt'),
});

const retention = (writer: Writer): RetentionSweep => ({
  deleteEnded: (endedBefore, limit) => writer.call('deleteEnded', endedBefore, limit),
  deleteRun: (tenant, runId) => writer.call('deleteRun', tenant, runId),
  deleteExpired: (now, invocationsBefore, limit) =>
    writer.call('deleteExpired', now, invocationsBefore, limit),
});
