/** The prompts of a node: resolved through all layers, filled in, and logged before any request to a model. */
import { type Candidate, type Resolution, resolvePrompt } from '@gantry/ai';
import type { PromptTemplate } from '@gantry/packs';
import type { EmittedEvent, Json, JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { type Bindings, type Composition, type ContentTrust, composePrompt } from './compose.ts';
import type { PromptLibrary } from './prompt-library.ts';
import { type PromptRef, readPromptRef } from './prompt-ref.ts';

type Kind = PromptTemplate['kind'];

/** In the order in which a model reads them, each with the member of the node's config that names it. */
const SLOTS = {
  system: 'systemPromptRef',
  'schema-hint': 'schemaHintPromptRef',
  'few-shot': 'fewShotPromptRefs',
  user: 'userPromptRef',
} as const satisfies Record<Kind, string>;

export const PROMPT_SLOTS = Object.entries(SLOTS) as readonly (readonly [Kind, string])[];

/** The sources from which a prompt is resolved and filled in. */
export interface PromptFacts {
  readonly tenant: string;
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly inputs: JsonObject;
  readonly variables: JsonObject;
  /** `runId`, `workflowId`, `now` and the like. */
  readonly context: JsonObject;
  readonly defaults?: WorkflowDefinition['defaults'];
  readonly contentTrust?: ContentTrust;
}

export interface NodePrompt extends Composition {
  readonly kind: Kind;
}

export interface NodePrompts {
  readonly prompts: readonly NodePrompt[];
  readonly events: readonly EmittedEvent[];
}

/** Empty for a node that names no prompt and whose workflow has no default. */
export async function nodePrompts(library: PromptLibrary, facts: PromptFacts): Promise<NodePrompts> {
  const prompts: NodePrompt[] = [];
  const events: EmittedEvent[] = [];
  for (const [kind] of PROMPT_SLOTS)
    for (const resolution of resolutionsOf(kind, facts)) {
      const { resolved } = resolution;
      if (resolved === null) continue;
      const template = await library.find(facts.tenant, resolved);
      const composed = composePrompt(template, bindingsOf(template, resolved, facts), facts.contentTrust);
      events.push(resolvedEvent(facts.nodeId, kind, resolution, template));
      prompts.push({ kind, ...composed });
      events.push(composedEvent(facts.nodeId, kind, composed));
    }
  return { prompts, events: inOrder(events) };
}

/** All resolutions before the first composition. */
const inOrder = (events: readonly EmittedEvent[]): EmittedEvent[] => [
  ...events.filter(({ type }) => type === 'agent.promptResolved'),
  ...events.filter(({ type }) => type === 'prompt.composed'),
];

/** `few-shot` has one for each reference. */
function resolutionsOf(
  kind: Kind,
  { config, defaults }: Pick<PromptFacts, 'config' | 'defaults'>,
): Resolution<PromptRef>[] {
  const named = config[SLOTS[kind]];
  const refs = Array.isArray(named) && kind === 'few-shot' ? named : [named];
  return (refs.length === 0 ? [undefined] : refs).map((ref) =>
    resolvePrompt(
      [candidate('node', ref), candidate('workflow-defaults', defaults?.promptRefs?.[kind])],
      refText,
    ),
  );
}

export const candidate = (layer: Candidate<PromptRef>['layer'], ref: unknown): Candidate<PromptRef> =>
  ref === undefined || ref === null ? { layer } : { layer, ref: readPromptRef(ref) };

export const refText = ({ templateId, version }: PromptRef): string =>
  version === undefined ? `prompt:${templateId}` : `prompt:${templateId}@${version}`;

const NONE: JsonObject = {};

/** Values of the reference take precedence over those of the node and the run. */
function bindingsOf({ variables = [] }: PromptTemplate, ref: PromptRef, facts: PromptFacts): Bindings {
  const sources = { input: facts.inputs, variable: facts.variables, context: facts.context, secret: NONE };
  const bound = variables.map(({ name, source = 'input', extractPath }) => {
    const value = extractPath === undefined ? own(sources[source], name) : at(sources[source], extractPath);
    return [name, value] as const;
  });
  return {
    ...Object.fromEntries(bound.filter(([, value]) => value !== undefined)),
    ...ref.variableOverrides,
  };
}

const own = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;

/** `a.b.0`; a leading `$.` is permitted. */
const at = (value: JsonObject, path: string): Json | undefined =>
  path
    .replace(/^\$\.?/, '')
    .split('.')
    .reduce<Json | undefined>((found, name) => own(found, name), value);

function resolvedEvent(
  nodeId: string,
  kind: Kind,
  { chain }: Resolution<PromptRef>,
  { templateId, version }: PromptTemplate,
): EmittedEvent {
  const payload = { nodeId, kind, chain: chain.map((entry) => ({ ...entry })) };
  return {
    type: 'agent.promptResolved',
    payload: { ...payload, resolved: refText({ templateId, version }) },
  };
}

const COMPOSED_KINDS = { system: 'system-only', user: 'user-only' } as const;

export function composedEvent(nodeId: string, kind: Kind, composition: Composition): EmittedEvent {
  const { composed, hash, refs, variableHashes, contentTrust } = composition;
  const isUser = kind === 'user';
  const payload: JsonObject = {
    nodeId,
    refs: [...refs],
    kind: isUser ? COMPOSED_KINDS.user : COMPOSED_KINDS.system,
    hash,
    composed,
    ...(kind === 'system' && { systemPrompt: composed }),
    ...(isUser && { userPrompt: composed }),
    variableHashes: { ...variableHashes },
    contentTrust,
  };
  return { type: 'prompt.composed', payload, ...(contentTrust === 'untrusted' && { contentTrust }) };
}
