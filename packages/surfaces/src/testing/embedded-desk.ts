/** A desk over real embedded surfaces, which all such desks of this process share. */
import { after } from 'node:test';
import type { NodeFacts } from '../calls/surface-call.ts';
import type { OpenedSurfaces } from '../open-surfaces.ts';
import { freshFolder } from './data-dir.ts';
import { deskOf, type TestDesk } from './desk.ts';
import { openTestSurfaces } from './surfaces.ts';

export interface EmbeddedDesk extends TestDesk {
  /** A tenant of this desk alone, as its surfaces know it. */
  tenantOf(tenant: string): string;
}

const folder = freshFolder();
let opened: Promise<OpenedSurfaces> | undefined;
after(async () => {
  await (await opened)?.close();
  folder.remove();
});

let desks = 0;

export async function embeddedDesk(): Promise<EmbeddedDesk> {
  opened ??= openTestSurfaces(folder.path);
  const { desk, ...rest } = deskOf((await opened).surfaces);
  const number = ++desks;
  const tenantOf = (tenant: string) => `${tenant}-${number}`;
  const open = (facts: NodeFacts) => desk.open({ ...facts, tenant: tenantOf(facts.tenant) });
  return { ...rest, desk: { ...desk, open }, tenantOf };
}
