/** A call gate whose calls are remembered through a crash, and the nodes that work at it. */
import { join } from 'node:path';
import { createCallGate } from '../calls/call-gate.ts';
import type { Data } from '../calls/data.ts';
import type { BackendSettings } from '../open-port.ts';
import { CrashJournal } from './crash-journal.ts';
import { openTestSurfaces } from './surfaces.ts';
import { type Call, callsOf, factsOf } from './test-call-gate.ts';

export interface CrashCallGateOptions {
  readonly dataDir: string;
  readonly backends: BackendSettings;
  readonly tenant: string;
}

export interface CrashNode {
  readonly call: Call;
  /** What streams gave. */
  readonly sent: readonly Data[];
}

export interface CrashCallGate {
  /** The same name is the same node, running again. */
  node(name: string): CrashNode;
  close(): Promise<void>;
}

export async function openCrashCallGate({
  dataDir,
  backends,
  tenant,
}: CrashCallGateOptions): Promise<CrashCallGate> {
  const opened = await openTestSurfaces(dataDir, { backends, invocationRetentionMs: 3_600_000 });
  const journal = new CrashJournal(join(dataDir, 'calls.jsonl'));
  const callGate = createCallGate({ surfaces: opened.surfaces, now: Date.now, onCall: () => {} });
  return {
    node(nodeId) {
      const sent: Data[] = [];
      return { sent, call: callsOf(callGate.open(factsOf({ tenant, nodeId }), journal), sent) };
    },
    async close() {
      await opened.close();
      journal.close();
    },
  };
}
