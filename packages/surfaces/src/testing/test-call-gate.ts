/** A call gate over given surfaces, and nodes that call it. */
import type { Owner } from '@gantry/protocol';
import { type CallGate, createCallGate } from '../calls/call-gate.ts';
import type { CallJournal, CallRecord, ReadsKey, SeenRead } from '../calls/call-journal.ts';
import type { Data } from '../calls/data.ts';
import type { ImplementedSurface } from '../calls/define-surface.ts';
import type { CallReport, NodeCalls } from '../calls/node-calls.ts';
import type { NodeFacts } from '../calls/surface-call.ts';
import { NOW } from './calls.ts';
import { keyOf } from './crash-journal.ts';

export interface TestCallGate {
  readonly callGate: Omit<CallGate, 'open'> & { open(facts: NodeFacts): NodeCalls };
  readonly reports: CallReport[];
  readonly clock: { now: number };
}

/** Remembers in memory what the host's invocation log keeps on disk. */
export class MemoryJournal implements CallJournal {
  readonly records = new Map<string, CallRecord | { readonly claimedFor: string }>();
  readonly warnings: string[] = [];
  readonly reads = new Map<string, readonly SeenRead[]>();

  async perform(
    call: Parameters<CallJournal['perform']>[0],
    act: () => Promise<CallRecord>,
  ): Promise<CallRecord> {
    const key = keyOf(call);
    const before = this.records.get(key);
    if (before && 'method' in before) return before;
    if (before && !(call.idempotent && before.claimedFor === call.fingerprint)) throw new Error('in doubt');
    this.records.set(key, { claimedFor: call.fingerprint });
    const record = await act();
    this.records.set(key, record);
    return record;
  }

  warn(message: string): void {
    this.warnings.push(message);
  }

  async isKnown(call: Parameters<CallJournal['isKnown']>[0]): Promise<boolean> {
    return this.records.has(keyOf(call));
  }

  async recall(key: ReadsKey): Promise<readonly SeenRead[] | null> {
    return this.reads.get(JSON.stringify(key)) ?? null;
  }

  async keep(key: ReadsKey, reads: readonly SeenRead[]): Promise<boolean> {
    const isFree = !this.reads.has(JSON.stringify(key));
    if (isFree) this.reads.set(JSON.stringify(key), structuredClone(reads));
    return isFree;
  }
}

export function callGateOf(
  surfaces: readonly ImplementedSurface[],
  journal: CallJournal = new MemoryJournal(),
): TestCallGate {
  const reports: CallReport[] = [];
  const clock = { now: NOW };
  const callGate = createCallGate({
    surfaces,
    now: () => clock.now,
    onCall: (report) => void reports.push(report),
  });
  return { callGate: { ...callGate, open: (facts) => callGate.open(facts, journal) }, reports, clock };
}

export type FactsGiven = Partial<NodeFacts & Owner>;

export const factsOf = ({
  tenant = 'acme',
  workspace = 'main',
  principal = 'ada',
  ...overrides
}: FactsGiven = {}): NodeFacts => ({
  owner: { tenant, workspace, principal },
  tenant,
  runId: 'run-1',
  nodeId: 'node-1',
  pack: { name: 'vendor.test.pack', version: '1.0.0' },
  peers: [],
  ordinalBase: 0,
  attempt: 0,
  effect: 'effect',
  ...overrides,
});

export type Call = (path: string, ...args: Data[]) => Promise<Data | undefined>;

export function callsOf(calls: NodeCalls, sent: Data[] = [], dispatch = 0): Call {
  const send = async (value: Data) => void sent.push(value);
  return async (path, ...args) => {
    const controller = new AbortController();
    try {
      return await calls.call(path, args, { dispatch, signal: controller.signal, send });
    } finally {
      // As a sandbox does when the pack has the answer: until then its bytes count
      controller.abort();
    }
  };
}

/** A node that begins: every call of this function is another run of the same node unless told otherwise. */
export const nodeOf = ({ callGate }: TestCallGate, facts: FactsGiven = {}): Call =>
  callsOf(callGate.open(factsOf(facts)));
