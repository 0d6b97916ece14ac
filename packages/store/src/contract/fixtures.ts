import assert from 'node:assert/strict';
import type { StoredEvent } from '@gantry/protocol';
import type {
  CommitGroup,
  EntryKey,
  IdempotencyRecord,
  InvocationRecord,
  KeyRecord,
  NewEntry,
  RunFacts,
  RunHead,
  Store,
  WorkflowRecord,
  Write,
} from '../port.ts';

export const TENANT = 'acme';
export const MEGABYTE = 1024 * 1024;

export const facts = (runId: string, over: Partial<RunFacts> = {}): RunFacts => ({
  runId,
  tenant: TENANT,
  workspace: null,
  principal: null,
  workflowId: 'wf',
  workflowHash: 'sha256-wf',
  scopeId: null,
  createdAt: 1_000,
  request: '{"inputs":{}}',
  ...over,
});

export const head = (over: Partial<RunHead> = {}): RunHead => ({
  status: 'running',
  owner: null,
  wakeAt: null,
  endedAt: null,
  ...over,
});

export const event = (sequence: number, over: Partial<StoredEvent> = {}): StoredEvent => ({
  sequence,
  type: 'node.completed',
  at: 1_000 + sequence,
  nodeId: null,
  causationId: null,
  payload: `{"n":${sequence}}`,
  sealed: null,
  ...over,
});

export const events = (fromSequence: number, count: number): StoredEvent[] =>
  Array.from({ length: count }, (_, i) => event(fromSequence + i));

interface CreateOptions {
  readonly facts?: Partial<RunFacts>;
  readonly head?: Partial<RunHead>;
  readonly events?: readonly StoredEvent[];
}

export const create = (runId: string, options: CreateOptions = {}): Write => ({
  kind: 'createRun',
  facts: facts(runId, options.facts),
  head: head(options.head),
  events: options.events ?? events(0, 1),
});

type Append = Extract<Write, { kind: 'append' }>;

/** One event at `expectedSeq` of an unowned run, unless told otherwise. */
export const append = (runId: string, expectedSeq: number, over: Partial<Append> = {}): Append => ({
  kind: 'append',
  tenant: TENANT,
  runId,
  expectedSeq,
  expectedOwner: null,
  events: events(expectedSeq, 1),
  head: head(),
  ...over,
});

export const idempotencyRecord = (key: string, over: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  tenant: TENANT,
  operation: 'POST /v1/runs',
  key,
  digest: 'digest',
  status: 201,
  body: '{}',
  expiresAt: 2_000,
  ...over,
});

export const idempotency = (
  key: string,
  over: Partial<IdempotencyRecord> & { readonly now?: number } = {},
): Write => {
  const { now = 1_000, ...record } = over;
  return { kind: 'idempotency', record: idempotencyRecord(key, record), now };
};

export const invocationRecord = (
  invocationId: string,
  over: Partial<InvocationRecord> = {},
): InvocationRecord => ({
  invocationId,
  tenant: TENANT,
  runId: 'run-1',
  nodeId: 'node-1',
  outcome: null,
  claimedAt: 1_000,
  claimId: 'claim-1',
  eventsPending: false,
  ...over,
});

export const claimInvocation = (invocationId: string, over: Partial<InvocationRecord> = {}): Write => ({
  kind: 'claimInvocation',
  record: invocationRecord(invocationId, over),
});

export const settleInvocation = (
  invocationId: string,
  outcome = '{"ok":true}',
  tenant = TENANT,
): Extract<Write, { kind: 'settleInvocation' }> => ({
  kind: 'settleInvocation',
  tenant,
  invocationId,
  outcome,
});

export const tellInvocation = (invocationId: string, tenant = TENANT): Write => ({
  kind: 'tellInvocation',
  tenant,
  invocationId,
});

export const workflowRecord = (
  workflowId: string,
  hash: string,
  over: Partial<WorkflowRecord> = {},
): WorkflowRecord => ({
  tenant: TENANT,
  workflowId,
  hash,
  version: '1.0.0',
  name: workflowId,
  registeredAt: 1_000,
  registeredBy: null,
  ...over,
});

export const keyRecord = (keyId: string, over: Partial<KeyRecord> = {}): KeyRecord => ({
  keyId,
  tenant: TENANT,
  workspace: `workspace-of-${keyId}`,
  principal: `principal-of-${keyId}`,
  name: keyId,
  hash: `hash-of-${keyId}`,
  scopes: ['runs:read', 'runs:write'],
  createdAt: 1_000,
  expiresAt: null,
  revokedAt: null,
  ...over,
});

export const key = (id: string): EntryKey => ({ kind: 'mail', tenant: TENANT, id });

export const expectEntry = (id: string, version: number | null, over: Partial<EntryKey> = {}): Write => ({
  kind: 'expectEntry',
  key: { ...key(id), ...over },
  version,
});

type PutEntry = Extract<Write, { kind: 'putEntry' }>;
type DeleteEntry = Extract<Write, { kind: 'deleteEntry' }>;

export const entry = (id: string, over: Partial<NewEntry> = {}): NewEntry => ({
  kind: 'mail',
  tenant: TENANT,
  id,
  workspace: null,
  ref: null,
  dueAt: null,
  expiresAt: null,
  createdAt: 1_000,
  body: '{}',
  ...over,
});

/** Creates with `expectedVersion` null. */
export const putEntry = (
  id: string,
  expectedVersion: number | null,
  over: Partial<NewEntry> = {},
): PutEntry => ({ kind: 'putEntry', entry: entry(id, over), expectedVersion });

export const deleteEntry = (
  id: string,
  expectedVersion: number,
  over: Partial<EntryKey> = {},
): DeleteEntry => ({
  kind: 'deleteEntry',
  key: { kind: 'mail', tenant: TENANT, id, ...over },
  expectedVersion,
});

/** Commits one group that must win. */
export async function win(store: Store, ...writes: CommitGroup): Promise<void> {
  assert.deepEqual(await store.commit([writes]), [{ won: true }]);
}

/** A JSON text of `bytes` bytes, different for each `seed`. */
export const bigText = (bytes: number, seed = 'x'): string =>
  `{"big":"${seed.repeat(bytes).slice(0, bytes - 10)}"}`;
