/** Archives that the `packs` maps of a tenant's workflows name by version and integrity. */
import type { PackPin } from '@gantry/packs';
import type { WorkflowDefinition, WorkflowPacks } from '@gantry/protocol';
import type { Store } from '@gantry/store';

export const pinsIn = (packs: WorkflowPacks = {}): PackPin[] =>
  Object.entries(packs).flatMap(([name, { version, integrity }]) =>
    version === undefined || integrity === undefined ? [] : [{ name, version, integrity }],
  );

type Definitions = Pick<Store['records'], 'definition'>;

/** The pins of the definition with this hash. */
export async function pinsOf(records: Definitions, hash: string): Promise<PackPin[]> {
  const body = await records.definition(hash);
  const definition: WorkflowDefinition | undefined = body === null ? undefined : JSON.parse(body);
  return pinsIn(definition?.packs);
}

export async function workflowPins(
  records: Definitions & Pick<Store['records'], 'workflows'>,
  tenant: string,
): Promise<PackPin[]> {
  const pins: PackPin[] = [];
  for (const { hash } of await records.workflows(tenant)) pins.push(...(await pinsOf(records, hash)));
  return pins;
}
