/** A call gate over real embedded surfaces, which all such call gates of this process share. */
import { after } from 'node:test';
import type { NodeFacts } from '../calls/surface-call.ts';
import type { OpenedSurfaces } from '../open-surfaces.ts';
import { freshFolder } from './data-dir.ts';
import { openTestSurfaces } from './surfaces.ts';
import { callGateOf, type TestCallGate } from './test-call-gate.ts';

export interface EmbeddedCallGate extends TestCallGate {
  /** A tenant of this call gate alone, as its surfaces know it. */
  tenantOf(tenant: string): string;
}

const folder = freshFolder();
let opened: Promise<OpenedSurfaces> | undefined;
after(async () => {
  await (await opened)?.close();
  folder.remove();
});

let callGates = 0;

export async function embeddedCallGate(): Promise<EmbeddedCallGate> {
  opened ??= openTestSurfaces(folder.path);
  const { callGate, ...rest } = callGateOf((await opened).surfaces);
  const number = ++callGates;
  const tenantOf = (tenant: string) => `${tenant}-${number}`;
  const open = (facts: NodeFacts) => {
    const tenant = tenantOf(facts.tenant);
    return callGate.open({ ...facts, tenant, owner: { ...facts.owner, tenant } });
  };
  return { ...rest, callGate: { ...callGate, open }, tenantOf };
}
