/** Capabilities by name, as peer dependencies ask for them. Known without a host, for those who write packs. */
import { nearest } from './did-you-mean.ts';

export interface SurfaceName {
  /** As discovery has it, without `host.`. */
  readonly capability: string;
  /** Of its methods in `ctx`. */
  readonly path: string;
  readonly aliases: readonly string[];
}

/** What code of packs can call; a test holds the list to the surfaces themselves. */
export const SURFACE_NAMES: readonly SurfaceName[] = [
  { capability: 'kvStorage', path: 'storage.kv', aliases: ['storage.kv'] },
  { capability: 'cache', path: 'storage.cache', aliases: ['storage.cache'] },
  { capability: 'tableStorage', path: 'storage.table', aliases: ['storage.table'] },
  { capability: 'nosql', path: 'db.nosql', aliases: ['db.nosql'] },
  { capability: 'sql', path: 'db.sql', aliases: ['db.sql'] },
  { capability: 'vectorStore', path: 'db.vector', aliases: ['db.vector'] },
  { capability: 'searchIndex', path: 'db.search', aliases: ['db.search'] },
  { capability: 'queueBus', path: 'queueBus', aliases: ['storage.queue', 'queue'] },
  { capability: 'blobStorage', path: 'storage.blob', aliases: ['storage.blob'] },
  { capability: 'fs', path: 'fs', aliases: [] },
];

/** The other capabilities that the protocol or published packs name, reserved ones too. */
const OTHERS = (
  'a2a agentRuntime agents aiEnvelope aiProviders artifactTypes authorization brand budget ' +
  'campaignMessaging canvas chat collaboration connections content conversationPrimitive coordination ' +
  'credentials dataIntegration deadLetter dispatch entities eventLog execClass feedback heartbeat http ' +
  'httpClient i18n interrupt kanban knowledge launchStudio mcp media memory messaging multiAgent ' +
  'multiPartyConversation oauth packs portability production promptLibrary prompts replay sandbox ' +
  'scheduling secrets subWorkflow toolCatalog toolHooks triggerBridge uiPlugins webhooks webResearch ' +
  'webSearch workflowChainPacks workspace'
).split(' ');

/** `host.kanban` and `kanban` are one capability, so are `openwop.agents.memoryBackends` and its short form. */
export const capabilityName = (name: string): string => name.replace(/^(host|openwop)\./, '');

/** `kvStorage.atomicIncrement` is a part of `kvStorage`, and of itself. */
export const isPartOf = (name: string, whole: string): boolean => `${name}.`.startsWith(`${whole}.`);

const namesOf = ({ capability, aliases }: SurfaceName): readonly string[] => [capability, ...aliases];

/** Those that a list of peer dependencies names, in whole or in part. */
export function surfacesNamedBy(peers: readonly string[]): string[] {
  const names = peers.map(capabilityName);
  return SURFACE_NAMES.filter((surface) =>
    namesOf(surface).some((own) => names.some((name) => isPartOf(name, own))),
  ).map(({ capability }) => capability);
}

export const isKnownCapability = (name: string): boolean =>
  surfacesNamedBy([name]).length > 0 || OTHERS.some((other) => isPartOf(capabilityName(name), other));

/** Names come from outside, and comparing takes as long as they are. */
const NAME_MAX = 64;

/** What a name that nobody knows was probably meant to be: `host.kv` and `kvstorage` are `host.kvStorage`. */
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
