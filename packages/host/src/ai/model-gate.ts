/**
 * Checks that the model of a node has the capabilities that the node declares, before the node is dispatched.
 *
 * I1  A substitution and its event are one commit. A node that runs again has one event.
 * I2  While `modelCapabilities` is not advertised, the declaration of a node is metadata and changes nothing.
 */
import { isScripted, type ModelName, modelGate, type Requirements, SCRIPTED_CAPABILITIES } from '@gantry/ai';
import { type EmittedEvent, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Changes } from '@gantry/resources';
import type { WorkingRun } from '../runtime/outside-work.ts';
import { type AskingNode, nodeCaller, withRunOptions } from './ai.ts';
import type { ModelSource } from './model-source.ts';
import { hasProvider } from './providers/advertisement.ts';
import type { Providers } from './providers/providers.ts';

export interface ModelGateOptions {
  readonly source: ModelSource;
  readonly providers: Pick<Providers, 'advertised' | 'factsOf' | 'lacks'>;
  readonly changes: Pick<Changes, 'run'>;
  /** The gate is then also on for the scripted provider, as the suite requires. */
  readonly testSeams: boolean;
}

export type GatedNode = AskingNode & { readonly run: WorkingRun };

/** Throws `ModelInsufficient` when the node must not be dispatched. */
export type ModelGate = (node: GatedNode, needs: Requirements, given: JsonObject) => Promise<void>;

export class ModelInsufficient extends OpenwopError {
  /** Emitted before the node fails. */
  readonly event: EmittedEvent;

  constructor(event: EmittedEvent, missing: readonly string[], { provider, model }: ModelName) {
    const who = provider === NO_MODEL ? 'No model is available' : `${provider}/${model} does not have it`;
    super('capability_not_provided', {
      message: `The node needs a model with ${missing.join(', ')}. ${who}. Name another in configurable.ai; \`gantry ai providers\` lists them.`,
      details: { missing: [...missing] },
    });
    this.event = event;
  }
}

/** Used if no provider would serve the node. */
const NO_MODEL = 'none';

export function createModelGate({ source, providers, changes, testSeams }: ModelGateOptions): ModelGate {
  const isOn = async (): Promise<boolean> => testSeams || hasProvider(await providers.advertised());
  const capabilitiesOf = ({ provider, model }: ModelName): readonly string[] =>
    isScripted(provider) ? SCRIPTED_CAPABILITIES : (providers.factsOf(provider, model)?.capabilities ?? []);

  return async (node, needs, given) => {
    const { requiredModelCapabilities: required = [], fallbackModel: fallback } = needs;
    if (required.length === 0 || !(await isOn())) return;
    const active = await activeModel(source, node, given);
    const canUse =
      fallback !== undefined &&
      (isScripted(fallback.provider) || (await providers.lacks(node.owner, fallback.provider)) === null);
    const outcome = modelGate(needs, {
      nodeId: node.nodeId,
      active,
      substitutionSupported: true,
      capabilitiesOf,
      canUse: () => canUse,
    });
    if (outcome.route === 'dispatch') return;
    if (outcome.route === 'refuse')
      throw new ModelInsufficient(outcome.event, outcome.missingCapabilities, active);
    const { model, event } = outcome;
    await changes.run(nodeCaller(node, node.ordinalBase, 'model-gate'), async (change) => {
      change.tell(event);
      return { substituted: true };
    });
    node.run.useInstead({ ...model, required });
  };
}

/** The model that a call of the node uses if the call names none. */
async function activeModel(source: ModelSource, node: AskingNode, given: JsonObject): Promise<ModelName> {
  const { owner, configurable } = node;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const asked = { task: 'chat', provider: text(given.provider), model: text(given.model) } as const;
  try {
    const { provider, model } = await source.choose({
      owner,
      configurable,
      ...withRunOptions(asked, configurable),
      turn: 0,
    });
    return { provider, model };
  } catch (error) {
    if (error instanceof OpenwopError && error.code === 'provider_unavailable')
      return { provider: NO_MODEL, model: NO_MODEL };
    throw error;
  }
}
