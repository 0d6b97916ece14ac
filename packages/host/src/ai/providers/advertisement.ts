/** `aiProviders` of the discovery document: the ready providers, by id. It contains no addresses. Pure. */
import { type Modality, SCRIPTED_CAPABILITIES, SCRIPTED_PROVIDERS, TASKS, type Task } from '@gantry/ai';
import { type AiProvider, flagsOf, type JsonObject } from '@gantry/protocol';
import { MEDIA_BYTES_MAX } from '../media-input.ts';
import { type AiConfig, POLICY_MODES } from './config.ts';
import type { Providers } from './providers.ts';

const FLAGS: Readonly<Partial<Record<Task, string>>> = {
  search: 'webSearch',
  embedding: 'embeddings',
  image: 'imageGeneration',
  video: 'videoGeneration',
  speech: 'speechSynthesis',
};
const MODALITIES: readonly Modality[] = ['text', 'image', 'audio', 'document'];
const INLINE_BYTES_MAX = 262_144;

/** `keeping`: providers that cache prefixes of prompts. */
export function advertisement(listed: readonly AiProvider[], keeping: readonly string[]): JsonObject {
  const ready = listed.filter(({ state, id }) => state === 'ready' && id !== 'scripted');
  const ids = ready.map(({ id }) => id);
  const keyed = ready.filter(({ credential }) => credential !== undefined).map(({ id }) => id);
  const modalities = MODALITIES.filter((one) => ready.some((provider) => provider.modalities.includes(one)));
  const tasks = TASKS.filter((task) => ready.some((provider) => provider.tasks.includes(task)));
  const prefixes = ids.filter((id) => keeping.includes(id));
  const flags = tasks.flatMap((task) => FLAGS[task] ?? []).map((flag) => [flag, 'supported']);
  return {
    supported: [...ids, ...SCRIPTED_PROVIDERS],
    byok: keyed,
    authModes: Object.fromEntries(
      [...ids, ...SCRIPTED_PROVIDERS].map((id) => [id, [keyed.includes(id) ? 'apiKey' : 'none']]),
    ),
    supportedModels: Object.fromEntries(ready.map(({ id, models }) => [id, [...models]])),
    policies: { modes: [...POLICY_MODES], scopes: ['tenant'] },
    input: { modalities: modalities.length > 0 ? modalities : ['text'], maxBytesPerPart: MEDIA_BYTES_MAX },
    maxInlineMediaBytes: INLINE_BYTES_MAX,
    selfHosted: ready.filter(({ selfHosted }) => selfHosted).map(({ id }) => id),
    ...(prefixes.length > 0 && { promptPrefixCache: { supported: true, providers: prefixes } }),
    toolCalling: 'supported',
    ...Object.fromEntries(flags),
  };
}

/** Names of satisfied peer dependencies: they need a real provider, not only a script. */
export function peersOf(advertised: JsonObject, testSeams: boolean): [string, readonly string[]][] {
  const models = hasProvider(advertised) ? { aiProviders: advertised, ...searchFamily(advertised) } : {};
  const families = { ...models, ...envelopeFamily(advertised, testSeams) };
  return Object.entries(families).flatMap(([family, entry]) => {
    const flags = flagsOf(entry);
    return [family, `host.${family}`].flatMap((name): [string, readonly string[]][] => [
      [name, flags],
      ...flags.map((flag): [string, readonly string[]] => [`${name}.${flag}`, []]),
    ]);
  });
}

/** How to offer what `peersOf` lacks. */
export const ADD_PROVIDER =
  'Models need a provider: store a key with `gantry credentials add openai --provider openai --audience api.openai.com`, or see docs/ai.md for others; `gantry ai providers` lists what is there.';

/** `aiEnvelope`. A script sends envelopes too, but no pack can rely on one. */
export const envelopeFamily = (advertised: JsonObject, testSeams: boolean): { aiEnvelope?: JsonObject } =>
  testSeams || hasProvider(advertised) ? { aiEnvelope: { supported: true, await: true } } : {};

/** `webSearch`, also under its own name, since packs request it so. */
export const searchFamily = ({ webSearch }: JsonObject): { webSearch?: JsonObject } =>
  webSearch === undefined ? {} : { webSearch: { supported: true } };

/** `modelCapabilities`, while the declarations of nodes are enforced: capabilities of at least one model here. */
export function modelCapabilityFamily(
  advertised: JsonObject,
  providers: Pick<Providers, 'factsOf'>,
  testSeams: boolean,
): { modelCapabilities?: JsonObject } {
  if (!testSeams && !hasProvider(advertised)) return {};
  const models = Object.entries(Object(advertised.supportedModels) as Record<string, readonly string[]>);
  const known = models.flatMap(([id, names]) =>
    names.flatMap((name) => providers.factsOf(id, name)?.capabilities ?? []),
  );
  const all = [...new Set([...SCRIPTED_CAPABILITIES, ...known])].sort();
  return { modelCapabilities: { supported: true, advertised: all, substitutionSupported: true } };
}

/** The providers that the settings name, before any provider can be checked. */
export const namedBySettings = (
  keys: readonly { readonly name: string }[],
  config: AiConfig,
): JsonObject => ({
  supported: [...keys.map(({ name }) => name), ...config.endpoints.map(({ id }) => id)],
});

/** Whether there is a provider other than a script. */
export const hasProvider = ({ supported }: JsonObject): boolean =>
  Array.isArray(supported) &&
  supported.some((id) => !(SCRIPTED_PROVIDERS as readonly unknown[]).includes(id));
