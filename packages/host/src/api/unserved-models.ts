/** Finds nodes with a model that no provider serves. The workflow is registered, but its runs would fail. */
import { isScripted } from '@gantry/ai';
import type { DefinitionWarning } from '@gantry/engine';
import type { Owner, WorkflowDefinition } from '@gantry/protocol';
import type { Providers } from '../ai/providers/providers.ts';

const TYPES = ['core.ai.callPrompt', 'core.ai.structuredOutput'];

export async function unservedModels(
  providers: Pick<Providers, 'lacks'>,
  owner: Owner,
  { nodes }: Pick<WorkflowDefinition, 'nodes'>,
): Promise<DefinitionWarning[]> {
  const asking = nodes.flatMap(({ typeId, config, inputs = {} }, at) => {
    const { provider } = config;
    const isOpen = 'provider' in inputs || (typeof provider === 'string' && isScripted(provider));
    if (!TYPES.includes(typeId) || isOpen) return [];
    return [{ at, provider: typeof provider === 'string' ? provider : undefined }];
  });
  const [first] = asking;
  if (!first) return [];
  const named = [...new Set(asking.map(({ provider }) => provider))];
  const lacking = await Promise.all(
    named.map(async (provider) => ({ provider, why: await providers.lacks(owner, provider) })),
  );
  return lacking.flatMap(({ provider, why }) => {
    if (why === null) return [];
    const { at } = asking.find((node) => node.provider === provider)!;
    const runs = provider === undefined ? 'Runs that name no provider' : 'Runs';
    return [{ path: `/nodes/${at}`, message: `${runs} will fail here with provider_unavailable`, fix: why }];
  });
}
