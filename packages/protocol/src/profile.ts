/**
 * Profiles are derived from a discovery document, never declared. The document may come from any host, so the
 * predicates accept any value and trust nothing in it.
 */
import Type from 'typebox';
import { Check } from 'typebox/schema';
import { Count } from './schema.ts';

const DiscoveryCore = Type.Object({
  protocolVersion: Type.String({ pattern: '^1\\.(0|[1-9]\\d*)$' }),
  supportedEnvelopes: Type.Array(Type.String()),
  schemaVersions: Type.Record(Type.String(), Count),
  limits: Type.Object({ clarificationRounds: Count, schemaRounds: Count, envelopesPerTurn: Count }),
});

/** The value at a path of own keys; undefined if one is missing. */
function at(doc: unknown, ...path: string[]): unknown {
  let value = doc;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

const yes = (doc: unknown, ...path: string[]): boolean => at(doc, ...path) === true;

function has(doc: unknown, member: string, ...path: string[]): boolean {
  const list = at(doc, ...path);
  return Array.isArray(list) && list.includes(member);
}

function filled(doc: unknown, ...path: string[]): boolean {
  const list = at(doc, ...path);
  return (
    Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string' && item !== '')
  );
}

const core = (doc: unknown): boolean => Check(DiscoveryCore, doc);
const rest = (doc: unknown): boolean =>
  (at(doc, 'supportedTransports') ?? null) === null || has(doc, 'rest', 'supportedTransports');
const interrupts = (doc: unknown): boolean => has(doc, 'clarification.request', 'supportedEnvelopes');

const durableSource = (doc: unknown): boolean =>
  yes(doc, 'queueBus', 'supported') ||
  yes(doc, 'webhooks', 'durable') ||
  yes(doc, 'scheduling', 'supported') ||
  has(doc, 'email', 'triggerBridge', 'ingestion', 'externalSources') ||
  has(doc, 'form', 'triggerBridge', 'ingestion', 'externalSources');

/** The requirements of each profile beyond `openwop-core`, which every profile includes. */
const BEYOND_CORE = {
  'openwop-core': () => true,
  'openwop-discovery-core': () => true,
  'openwop-interrupts': interrupts,
  'openwop-stream-sse': rest,
  'openwop-stream-poll': rest,
  'openwop-secrets': (doc) => yes(doc, 'secrets', 'supported') && has(doc, 'user', 'secrets', 'scopes'),
  'openwop-provider-policy': (doc) => has(doc, 'optional', 'aiProviders', 'policies', 'modes'),
  'openwop-replay-fork': (doc) => yes(doc, 'replay', 'supported') && filled(doc, 'replay', 'modes'),
  'openwop-fixtures': (doc) => filled(doc, 'fixtures'),
  'openwop-memory': (doc) =>
    yes(doc, 'memory', 'supported') &&
    at(doc, 'memory', 'writable') !== false &&
    has(doc, 'long-term', 'agents', 'memoryBackends'),
  'openwop-trigger-bridge': (doc) =>
    yes(doc, 'triggerBridge', 'supported') && yes(doc, 'deadLetter', 'supported') && durableSource(doc),
  // Discovery does not describe the registry routes: this profile can only be checked by calling them.
  'openwop-node-packs': () => true,
  'openwop-core-standard': (doc) => interrupts(doc) && rest(doc),
} as const satisfies Record<string, (doc: unknown) => boolean>;

export type Profile = keyof typeof BEYOND_CORE;
export const PROFILES = Object.keys(BEYOND_CORE) as Profile[];

/** @example satisfiesProfile(await response.json(), 'openwop-replay-fork') */
export const satisfiesProfile = (doc: unknown, profile: Profile): boolean =>
  core(doc) && BEYOND_CORE[profile](doc);

/** Every profile that the document satisfies. */
export const profilesOf = (doc: unknown): Profile[] =>
  core(doc) ? PROFILES.filter((profile) => BEYOND_CORE[profile](doc)) : [];
