/** The names of capabilities in peer dependencies. Known without a host, for authors of packs. */
import { nearest } from './did-you-mean.ts';

export interface SurfaceName {
  /** As in discovery, without `host.`. */
  readonly capability: string;
  /** The path of its methods in `ctx`. */
  readonly path: string;
  /** Its members at the root of `ctx`, if it has no path. */
  readonly members?: readonly string[];
  /** Other names that packs use in their peer dependencies. */
  readonly aliases: readonly string[];
  /** Its name in the test seams of the public conformance suite. */
  readonly seam: string;
  /** The data that a pack reads and changes with it, for operators. */
  readonly holds: string;
  /** Only packs whose manifest names it may call it; it cannot be granted. */
  readonly onlyNamed?: true;
}

const MODEL_CALLS: readonly string[] = (
  'callAI callAIWithTools callEmbeddings callReranker callImageGenerator callImageEditor callImageUpscaler ' +
  'callSpeechSynthesizer callTextToSpeech callSpeechToText callTranscriber callVideoGenerator webSearch aiProviders'
).split(' ');

/** The surfaces that pack code can call. The literals in `packages/surfaces` use these names. */
const NAMES = [
  { capability: 'kvStorage', path: 'storage.kv', holds: 'the keys and values' },
  { capability: 'cache', path: 'storage.cache', holds: 'the cache' },
  { capability: 'tableStorage', path: 'storage.table', holds: 'the tables' },
  { capability: 'nosql', path: 'db.nosql', holds: 'the documents' },
  { capability: 'sql', path: 'db.sql', holds: 'the SQL databases' },
  { capability: 'vectorStore', path: 'db.vector', holds: 'the vectors' },
  { capability: 'searchIndex', path: 'db.search', holds: 'the search indexes' },
  { capability: 'queueBus', path: 'queueBus', holds: 'the queues', aliases: ['storage.queue', 'queue'] },
  { capability: 'blobStorage', path: 'storage.blob', holds: 'the objects' },
  { capability: 'fs', path: 'fs', holds: 'the files' },
  { capability: 'secrets', path: 'secrets', holds: 'the values of credentials', onlyNamed: true },
  { capability: 'httpClient', path: 'http', holds: 'requests to public servers' },
  { capability: 'messaging', path: 'messaging', holds: 'messages through the connectors' },
  {
    capability: 'aiProviders',
    path: '',
    members: MODEL_CALLS,
    aliases: [],
    seam: 'aiProviders',
    holds: 'calls of models, which cost money',
  },
  { capability: 'aiEnvelope', path: 'aiEnvelope', holds: 'envelopes of models, which cost money' },
  { capability: 'promptLibrary', path: 'promptLibrary', holds: 'the prompts' },
] as const satisfies readonly (Omit<SurfaceName, 'aliases' | 'seam'> & Partial<SurfaceName>)[];

export type SurfaceCapability = (typeof NAMES)[number]['capability'];

export const SURFACE_NAMES: readonly SurfaceName[] = NAMES.map((names) => ({
  aliases: names.path === names.capability ? [] : [names.path],
  seam: names.path.replace(/^.*\./, ''),
  ...names,
}));

/** Other capabilities that the protocol or published packs name, including reserved ones. */
const OTHERS = (
  'a2a agentRuntime agents artifactTypes authorization brand budget ' +
  'campaignMessaging canvas chat collaboration connections content conversationPrimitive coordination ' +
  'credentials dataIntegration deadLetter dispatch entities eventLog execClass feedback heartbeat ' +
  'i18n interrupt kanban knowledge launchStudio mcp media memory multiAgent ' +
  'multiPartyConversation oauth packs portability production prompts replay sandbox ' +
  'scheduling subWorkflow toolCatalog toolHooks triggerBridge uiPlugins webhooks webResearch ' +
  'webSearch workflowChainPacks workspace'
).split(' ');

/** `host.kanban` and `kanban` are one capability, as are `openwop.agents.memoryBackends` and its short form. */
export const capabilityName = (name: string): string => name.replace(/^(host|openwop)\./, '');

/** `kvStorage.atomicIncrement` is part of `kvStorage`, and of itself. */
export const isPartOf = (name: string, whole: string): boolean => `${name}.`.startsWith(`${whole}.`);

const namesOf = ({ capability, aliases }: SurfaceName): readonly string[] => [capability, ...aliases];

/** `storage.kv.get` in `ctx` is `kvStorage.get`. A path that belongs to no surface is returned unchanged. */
export function capabilityAt(path: string): string {
  const [first = '', ...rest] = path.split('.');
  for (const { capability, path: root, aliases, members } of SURFACE_NAMES) {
    if (members?.includes(first))
      return [capability, ...(first === capability ? [] : [first]), ...rest].join('.');
    const own = [root, ...aliases].find((each) => isPartOf(path, each));
    if (own !== undefined) return `${capability}${path.slice(own.length)}`;
  }
  return path;
}

/** The surfaces that can be granted like permissions. */
export const GRANTABLE_SURFACES: readonly string[] = SURFACE_NAMES.filter(({ onlyNamed }) => !onlyNamed).map(
  ({ capability }) => capability,
);

/** The surfaces that a list of peer dependencies names, in whole or in part. */
export function surfacesNamedBy(peers: readonly string[]): string[] {
  const names = peers.map(capabilityName);
  return SURFACE_NAMES.filter((surface) =>
    namesOf(surface).some((own) => names.some((name) => isPartOf(name, own))),
  ).map(({ capability }) => capability);
}

/**
 * Whether a pack with these peer dependencies may only call the surfaces that they name. Published packs name
 * `aiProviders` to require a model, and call other surfaces without naming them, so that name alone restricts
 * nothing.
 */
export const isHeldToNamed = (peers: readonly string[]): boolean =>
  surfacesNamedBy(peers).some((capability) => capability !== 'aiProviders');

export const isKnownCapability = (name: string): boolean =>
  surfacesNamedBy([name]).length > 0 || OTHERS.some((other) => isPartOf(capabilityName(name), other));

/** Names come from outside, and the comparison time grows with their length. */
const NAME_MAX = 64;

const isYes = (value: unknown): boolean => value === true || value === 'supported';

/** The paths of all flags that are true in an advertisement: `stream.fromBeginning`. */
export function flagsOf(entry: unknown, under = ''): string[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
  return Object.entries(entry).flatMap(([name, value]) => {
    if (isYes(value)) return name === 'supported' ? [] : [`${under}${name}`];
    return flagsOf(value, `${under}${name}.`);
  });
}

/** Whether a family of the discovery document is offered: true, or an object that does not disable it. */
export const isAdvertised = (family: unknown): boolean =>
  isYes(family) ||
  (typeof family === 'object' && family !== null && (!('supported' in family) || isYes(family.supported)));

/** The probable meaning of an unknown name: `host.kv` and `kvstorage` are `host.kvStorage`. */
export function meantCapability(name: string): string | undefined {
  if (name.length > NAME_MAX) return;
  const words = new Map(OTHERS.map((other) => [other.toLowerCase(), other]));
  for (const surface of SURFACE_NAMES)
    for (const word of [...namesOf(surface), surface.path.split('.').at(-1) ?? ''])
      words.set(word.toLowerCase(), surface.capability);
  const word = nearest(capabilityName(name).toLowerCase(), [...words.keys()]);
  const meant = word === undefined ? undefined : words.get(word);
  return meant === undefined ? undefined : `host.${meant}`;
}
