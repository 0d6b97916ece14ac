/** Calls of people: the same methods as for nodes, of surfaces whose literal offers them. */
import { OpenwopError } from '@gantry/protocol';
import type { Data, DataObject } from './data.ts';
import type { Routes } from './routes.ts';
import type { PersonFacts } from './surface-call.ts';

export interface PersonCall {
  readonly path: string;
  readonly input: DataObject;
  readonly signal: AbortSignal;
  readonly now: number;
}

/** Rejects with `OpenwopError` for what is refused. */
export async function callForPerson(
  routes: Routes,
  { request, ...person }: PersonFacts,
  { path, input, signal, now }: PersonCall,
): Promise<Data> {
  const { surface, name, method, capability, checkInput, checkOutput } = routes.find(path, input);
  if (!surface.literal.people || method.kind === 'stream')
    throw new OpenwopError('host_capability_missing', {
      message: `Only the code of packs can call ${path}.`,
      details: { capability },
    });
  checkInput(input);
  const caller = { kind: 'person', ...(request && { request }) } as const;
  return checkOutput(await surface.act(name, input, { ...person, caller, signal, now }));
}
