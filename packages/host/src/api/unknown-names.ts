/** Finds names in a request that nothing reads. They are probably mistyped, so the answer has a warning. */
import type { Plan } from '@gantry/engine';
import type { PromptTemplate } from '@gantry/packs';
import { CONFIGURABLE_RULES, didYouMean, type TriggerSubscriptionRegistration } from '@gantry/protocol';
import { PLACEHOLDER } from '../prompts/compose.ts';
import type { Workflows } from '../runtime/runtime.ts';
import { eventRoots, rootOf } from '../triggers/event-members.ts';

/** Limits the number of warnings in one answer. */
const TOLD_MAX = 20;

const unknown = (what: string, given: readonly string[], known: readonly string[]): string[] =>
  given
    .filter((name) => !known.includes(name))
    .slice(0, TOLD_MAX)
    .map((name) => `Unknown ${what} ${JSON.stringify(name)} (ignored).${didYouMean(name, known)}`);

export const unknownInputs = ({ variables }: Plan, inputs: object): string[] =>
  unknown('input', Object.keys(inputs), [...variables.keys()]);

/** The common part of the schemas of schedules and heartbeats. */
interface RunsToStart {
  readonly workflowId: string;
  readonly inputs?: object;
  /** The run that a heartbeat starts at a change. */
  readonly enqueue?: RunsToStart;
}

/** Unknown inputs of the runs that a schedule or heartbeat starts later. */
async function unknownInputsLater(
  workflows: Pick<Workflows, 'resolve'>,
  tenant: string,
  { workflowId, inputs = {}, enqueue }: RunsToStart,
): Promise<string[]> {
  const workflow = await workflows.resolve(tenant, workflowId);
  const own = workflow ? unknownInputs(workflow.plan, inputs) : [];
  return enqueue ? [...own, ...(await unknownInputsLater(workflows, tenant, enqueue))] : own;
}

export const unknownInputsOf =
  (workflows: Pick<Workflows, 'resolve'>) =>
  (tenant: string, input: unknown): Promise<string[]> =>
    unknownInputsLater(workflows, tenant, input as RunsToStart);

/** Names that the protocol reserves in every workflow. */
const RESERVED = [...Object.keys(CONFIGURABLE_RULES), 'budget', 'ai', 'mockProvider'];

/**
 * For a workflow that does not declare its `configurable`, the known names are those of the host and the run. Pack code
 * may read any other name, so a name is reported only if it is similar to a known one, or if no node has such code.
 */
export function unknownConfigurable(
  { definition, order }: Plan,
  configurable: object,
  before: object = {},
): string[] {
  const given = Object.keys(configurable);
  if (given.length === 0) return []; // most runs
  const properties: unknown = definition.configurableSchema?.properties;
  if (typeof properties === 'object' && properties !== null)
    return unknown('name in configurable', given, [...Object.keys(properties), ...RESERVED]);
  const parameters = Object(definition.metadata).deferredParameterAliases;
  const known = [...RESERVED, ...Object.keys({ ...Object(parameters), ...before })];
  const isFree = order.some(({ pack }) => pack !== undefined);
  const slips = isFree ? given.filter((name) => didYouMean(name, known) !== '') : given;
  return unknown('name in configurable', slips, known);
}

/** Unknown placeholders stay empty when the prompt is rendered. */
export function unknownPlaceholders({ text, variables = [] }: PromptTemplate): string[] {
  const names = new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  return unknown(
    'variable in the text',
    [...names],
    variables.map(({ name }) => name),
  );
}

/** A path that no event has stays unset in every run. */
export function unknownPaths({
  source,
  inputMapping = {},
}: Pick<TriggerSubscriptionRegistration, 'source' | 'inputMapping'>): string[] {
  const known = eventRoots(source);
  return Object.values(inputMapping)
    .filter((path) => !known.includes(rootOf(path)))
    .slice(0, TOLD_MAX)
    .map((path) => {
      const hint = didYouMean(rootOf(path), known) || ` Paths begin with ${known[0]}.`;
      return `No event has ${JSON.stringify(path)}, which inputMapping names (ignored).${hint}`;
    });
}
