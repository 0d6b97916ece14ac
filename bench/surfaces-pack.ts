/** A pack in the sandbox that calls surfaces as fast as it is answered: through frames, call gate, journal and backend. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEgress, createEgressByPurpose, PUBLIC_POLICY } from '@gantry/egress';
import type { Json } from '@gantry/protocol';
import { createSandbox, type Sandbox } from '@gantry/sandbox';
import { openSqlite } from '@gantry/store';
import {
  type BackendSettings,
  type CallGate,
  createCallGate,
  type NodeCalls,
  type NodeFacts,
  openSurfaces,
} from '@gantry/surfaces';
import { InvocationLog } from '../packages/host/src/runtime/invocation-log.ts';
import { callJournal } from '../packages/host/src/surfaces/call-journal.ts';
import { CommitPipeline } from '../packages/store/src/commit-pipeline.ts';
import { freshFolder } from './servers.ts';
import {
  BATCH,
  type CallName,
  COLLECTION,
  DIMENSIONS,
  INDEX,
  OBJECT_BYTES,
  PLACES_IN_LANE,
  perSecond,
  placeOf,
  TEXT,
  textOf,
  VECTORS,
} from './surfaces-works.ts';

const MIB = 1024 * 1024;
const RETENTION_MS = 3_600_000;

const SOURCE = `
const [BATCH, PLACES_IN_LANE, TEXT, VECTORS, DIMENSIONS] =
  ${JSON.stringify([BATCH, PLACES_IN_LANE, TEXT, VECTORS, DIMENSIONS])};
const bytes = new Uint8Array(${OBJECT_BYTES});
const placeOf = ${placeOf};
const textOf = ${textOf};
const perSecond = ${perSecond};
const once = (call) => async (lane, turn) => {
  await call(lane, turn);
  return 1;
};
const key = (lane, turn) => 'k' + placeOf(lane, turn);
const object = (lane, turn) => ({ bucket: 'artifacts', key: 'o' + placeOf(lane, turn) });

async function round(bus, topic) {
  const payload = { text: TEXT };
  await Promise.all(Array.from({ length: BATCH }, () => bus.publish({ topic, payload })));
  for (let taken = 0; taken < BATCH; ) {
    const { messages } = await bus.consume({ topic, maxMessages: BATCH - taken });
    await Promise.all(messages.map(({ deliveryToken }) => bus.ack({ deliveryToken })));
    taken += messages.length;
  }
  return BATCH;
}

const works = ({ storage, queueBus, db, inputs: { questions } }) => ({
  'kv put': once((...at) => storage.kv.set({ key: key(...at), value: { text: textOf(at[1]) } })),
  'kv get': once(async (...at) => {
    const { found } = await storage.kv.get({ key: key(...at) });
    if (!found) throw new Error('a key is missing');
  }),
  'queue publish to ack': (lane) => round(queueBus, 'lane-' + lane),
  'sql update': once((...at) =>
    db.sql.execute({
      datasourceId: 'bench', sql: 'update bench set value = ? where id = ?', params: [textOf(at[1]), placeOf(...at)],
    }),
  ),
  'sql select': once((...at) =>
    db.sql.query({ datasourceId: 'bench', sql: 'select value from bench where id = ?', params: [placeOf(...at)] }),
  ),
  'blob put': once((...at) => storage.blob.put({ ...object(...at), bytes })),
  'blob get': once((...at) => storage.blob.get(object(...at))),
  'vector query': once((_lane, turn) =>
    db.vector.query({ collection: '${COLLECTION}', embedding: questions[turn % questions.length], k: 10 }),
  ),
  'vector upsert': async (lane, turn) => {
    const vectors = Array.from({ length: VECTORS }, (_, i) => ({
      id: turn + '/' + i, embedding: Array.from({ length: DIMENSIONS }, Math.random), metadata: { turn },
    }));
    await db.vector.upsert({ collection: 'loaded', vectors });
    return VECTORS;
  },
  'search query': once((_lane, turn) =>
    db.search.query({ index: '${INDEX}', query: questions[turn % questions.length], limit: 10 }),
  ),
});

export const nodes = {
  'bench.calls': async (ctx) => {
    const { call, lanes, ms } = ctx.inputs;
    return { status: 'success', outputs: { perSecond: await perSecond(works(ctx)[call], lanes, ms) } };
  },
};
`;

export interface Load {
  readonly call: CallName;
  readonly lanes: number;
  readonly ms: number;
  readonly questions: readonly Json[];
}

export interface PackCaller {
  readonly isolation: string;
  /** Calls or messages per second. */
  perSecond(callGate: BenchCallGate, load: Load): Promise<number>;
  stop(): Promise<void>;
}

export async function startPack(dataDir: string): Promise<PackCaller> {
  const folder = freshFolder(dataDir);
  writeFileSync(path.join(folder, 'index.mjs'), SOURCE);
  const sandbox = await createSandbox({
    isolation: 'os',
    workDir: freshFolder(dataDir),
    warmMax: 1,
    idleMs: 60_000,
    egress: createEgress({ policy: PUBLIC_POLICY }),
    now: () => performance.now(),
    log: () => {},
  });
  let runs = 0;
  return {
    isolation: sandbox.stats().isolation,
    perSecond: (callGate, load) => invoke(sandbox, callGate, { folder, runId: `run-${runs++}`, load }),
    stop: () => sandbox.stop(),
  };
}

interface Asked {
  readonly folder: string;
  readonly runId: string;
  readonly load: Load;
}

async function invoke(
  sandbox: Sandbox,
  callGate: BenchCallGate,
  { folder, runId, load }: Asked,
): Promise<number> {
  const pack = { name: 'bench', version: '1.0.0' };
  const key = { tenant: 'bench', workspace: 'bench', principal: 'bench' };
  const facts: NodeFacts = {
    owner: key,
    tenant: key.tenant,
    runId,
    nodeId: 'node',
    pack,
    peers: [],
    ordinalBase: 0,
    attempt: 0,
    effect: 'effect',
  };
  const calls = callGate.open(facts);
  const { result } = await sandbox.invoke({
    code: { ...pack, folder, entry: 'index.mjs', language: 'javascript' },
    key,
    grants: [],
    typeId: 'bench.calls',
    repeatable: true,
    variables: {},
    answers: {},
    surfaces: callGate.table,
    ctx: {
      runId,
      nodeId: facts.nodeId,
      attempt: 1,
      inputs: { ...load, questions: [...load.questions] },
      config: {},
      trustBoundary: 'trusted',
      configurable: {},
    },
    limits: { memoryBytes: 256 * MIB, wallClockMs: 60_000, outputBytes: MIB },
    call: (method, args, io) => calls.call(method, args, io),
    emit: () => {},
    log: () => {},
  });
  if (result.status !== 'success') throw new Error(JSON.stringify(result));
  return Number(result.outputs.perSecond);
}

/** The call gate with its journal. */
export interface BenchCallGate extends Pick<CallGate, 'table'> {
  open(facts: NodeFacts): NodeCalls;
}

export interface OpenedCallGate {
  readonly callGate: BenchCallGate;
  close(): Promise<void>;
}

/** As a host opens it: calls to backends without a journal of their own are claimed and recorded in the run log. */
export async function openCallGate(folder: string, backends: BackendSettings): Promise<OpenedCallGate> {
  const store = await openSqlite({ dataDir: folder });
  const log = new InvocationLog(new CommitPipeline(store), store.records, Date.now);
  const opened = await openSurfaces({
    dataDir: folder,
    cursorKey: new Uint8Array(32),
    invocationRetentionMs: RETENTION_MS,
    backends,
    egress: createEgressByPurpose(),
    now: Date.now,
    report: () => {},
    buckets: ['artifacts'],
    blobLinks: { key: new Uint8Array(32), publicUrl: () => '' },
  });
  const callGate = createCallGate({ surfaces: opened.surfaces, now: Date.now, onCall: () => {} });
  const journal = callJournal(log);
  return {
    callGate: { table: callGate.table, open: (facts) => callGate.open(facts, journal) },
    async close() {
      await opened.close();
      await store.close();
    },
  };
}
