/** Archives that the `packs` maps of a tenant's workflows name by version and integrity. */
import type { PackPin } from '@gantry/packs';
import type { WorkflowDefinition, WorkflowPacks } from '@gantry/protocol';
import type { Store } from '@gantry/store';

export const pinsIn = (packs: WorkflowPacks = {}): PackPin[] =>
  Object.entries(packs).flatMap(([name, { version, integrity }]) =>
    version === undefined || integrity === undefined ? [] : [{ name, version, integrity }],
  );

export async function workflowPins(
  records: Pick<Store['records'], 'workflows' | 'definition'>,
  tenant: string,
): Promise<PackPin[]> {
  const pins: PackPin[] = [];
  for (const { hash } of await records.workflows(tenant)) {
    const body = await records.definition(hash);
    const definition: WorkflowDefinition | undefined = body === null ? undefined : JSON.parse(body);
    pins.push(...pinsIn(definition?.packs));
  }
  return pins;
}
