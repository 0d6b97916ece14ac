/** Names that a request may give freely and that nothing reads: probably mistyped, so the answer warns of them. */
import type { Plan } from '@gantry/engine';
import type { PromptTemplate } from '@gantry/packs';
import {
  CONFIGURABLE_RULES,
  didYouMean,
  EVENT_TYPES,
  HEARTBEAT_EVENTS,
  type TriggerSubscriptionRegistration,
} from '@gantry/protocol';
import { PLACEHOLDER } from '../prompts/compose.ts';
import type { Workflows } from '../runtime/runtime.ts';

/** Whoever misspells more than these sees enough. */
const TOLD_MAX = 20;

const unknown = (what: string, given: readonly string[], known: readonly string[]): string[] =>
  given
    .filter((name) => !known.includes(name))
    .slice(0, TOLD_MAX)
    .map((name) => `Unknown ${what} ${JSON.stringify(name)} (ignored).${didYouMean(name, known)}`);

export const unknownInputs = ({ variables }: Plan, inputs: object): string[] =>
  unknown('input', Object.keys(inputs), [...variables.keys()]);

/** As the schemas of schedules and heartbeats have it. */
export interface RunsToStart {
  readonly workflowId: string;
  readonly inputs?: object;
  /** Of a heartbeat: the run that a change starts. */
  readonly enqueue?: RunsToStart;
}

/** Of the runs that a schedule or heartbeat starts later. */
export async function unknownInputsLater(
  workflows: Pick<Workflows, 'resolve'>,
  tenant: string,
  { workflowId, inputs = {}, enqueue }: RunsToStart,
): Promise<string[]> {
  const workflow = await workflows.resolve(tenant, workflowId);
  const own = workflow ? unknownInputs(workflow.plan, inputs) : [];
  return enqueue ? [...own, ...(await unknownInputsLater(workflows, tenant, enqueue))] : own;
}

/** Reserved by the protocol, in every workflow. */
const RESERVED = [...Object.keys(CONFIGURABLE_RULES), 'budget', 'ai', 'mockProvider'];

/**
 * Where the workflow does not say which names of `configurable` there are, those that the host or the run knows. Pack
 * code may read any other, so a name is taken for a slip only if it is like one of them, or no node has such code.
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

/** They are left empty when the prompt is filled in. */
export function unknownPlaceholders({ text, variables = [] }: PromptTemplate): string[] {
  const names = new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  return unknown(
    'variable in the text',
    [...names],
    variables.map(({ name }) => name),
  );
}

const QUEUE_MEMBERS = ['payload', 'headers', 'messageId'];
const INGESTED_MEMBERS = [
  'source',
  'subscriptionId',
  'deliveryId',
  'receivedAt',
  'verified',
  'contentTrust',
  'dedupKey',
];

/** What no event has stays unset in every run. */
export function unknownPaths({
  source,
  inputMapping = {},
}: Pick<TriggerSubscriptionRegistration, 'source' | 'inputMapping'>): string[] {
  const known = source === 'queue' ? QUEUE_MEMBERS : [source, ...INGESTED_MEMBERS];
  const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';
  return Object.values(inputMapping)
    .filter((path) => !known.includes(rootOf(path)))
    .slice(0, TOLD_MAX)
    .map((path) => {
      const hint = didYouMean(rootOf(path), known) || ` Paths begin with ${known[0]}.`;
      return `No event has ${JSON.stringify(path)}, which inputMapping names (ignored).${hint}`;
    });
}

/** Clients may subscribe to events that a later version tells. */
export function unknownEvents(events: readonly string[]): string[] {
  const types: string[] = [...Object.keys(EVENT_TYPES), ...HEARTBEAT_EVENTS];
  const isKnown = (event: string): boolean =>
    event === '*' ||
    types.includes(event) ||
    (event.endsWith('.*') && types.some((type) => type.startsWith(event.slice(0, -1))));
  return unknown(
    'event type',
    events.filter((event) => !isKnown(event)),
    types,
  );
}
