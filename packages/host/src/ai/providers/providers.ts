/** The models that a tenant may use, from the known providers, the operator's configuration, and the keys. */
import {
  type FamilyName,
  KEY_PLACES,
  KNOWN_PROVIDERS,
  knownProvider,
  loadFamily,
  PREFIX_FAMILIES,
  SCRIPTED_PROVIDERS,
  TASKS,
  type Task,
} from '@gantry/ai';
import type { EgressByPurpose } from '@gantry/egress';
import { DEFAULT_TENANT } from '@gantry/http';
import {
  type AiProvider,
  didYouMean,
  type JsonObject,
  OpenwopError,
  type Owner,
  ownerOf,
} from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { Credentials } from '../../credentials/credentials.ts';
import type { SecretVariable } from '../../credentials/external-stores.ts';
import type { ChosenModel, WantedModel } from '../model-source.ts';
import { advertisement, namedBySettings, peersOf } from './advertisement.ts';
import type { AiConfig } from './config.ts';
import { type KeyChoice, type KeyChoices, keyChoices } from './key-choice.ts';
import { offerKeys } from './key-offers.ts';
import { denialBy, policyDenied, policyFor } from './policy.ts';
import { createProbes, type Probes } from './probe.ts';
import {
  listedModels,
  type ModelFacts,
  mayUse,
  modelFacts,
  OLLAMA,
  type Provider,
  providerTable,
} from './provider-table.ts';
import { reachOf } from './reach.ts';
import { addKey, cannot, noKey, none, unknownModel, unreachable } from './refusals.ts';

export interface ProvidersOptions {
  readonly config: AiConfig;
  readonly ollamaHost: string | undefined;
  readonly keys: readonly SecretVariable[];
  readonly credentials: Pick<Credentials, 'open' | 'service'>;
  readonly egress: EgressByPurpose;
  readonly store: Pick<Store, 'entries'>;
  readonly now: () => number;
}

/** The advertisement is cached, so that frequent reads of discovery do not probe providers each time. */
const TOLD_MS = 5_000;

export class Providers {
  readonly #options: ProvidersOptions;
  readonly #config: AiConfig;
  readonly #table: ReadonlyMap<string, Provider>;
  readonly #keys: KeyChoices;
  readonly #probes: Probes;
  #isStarted = false;
  #told: { readonly at: number; readonly advertised: Promise<JsonObject> } | undefined;

  constructor(options: ProvidersOptions) {
    const { config, ollamaHost, store, now } = options;
    this.#options = options;
    this.#config = config;
    this.#table = providerTable(config, ollamaHost);
    this.#keys = keyChoices(store.entries, now);
    this.#probes = createProbes((provider) => this.#egress(provider), now);
  }

  /** A refusal lists what is available, or how to get it. */
  async choose(owner: Owner, query: WantedModel): Promise<ChosenModel> {
    const { task } = query;
    const preferred = query.provider === undefined ? this.#preferredBy(owner, task, query) : undefined;
    const provider =
      query.provider === undefined
        ? (preferred ?? (await this.#preferred(owner, task)))
        : this.#named(owner, query.provider, task);
    const ref = query.credentialRef ?? (preferred && query.prefers?.credentialRef);
    const key = await this.#key(owner, provider, ref);
    const model = await this.#model(owner, provider, query);
    const reason = denialBy(this.#policy(owner, provider), { model, key: key?.key ?? 'none' });
    if (reason) throw policyDenied(provider.id, reason);
    if (!key && provider.key !== 'none') throw noKey(provider);
    const terms = {
      egress: this.#egress(provider),
      credentials: this.#options.credentials,
      baseUrl: provider.baseUrl,
      silenceMs: this.#config.silenceMs,
      owner,
      ...(key && { key: { ref: key.ref, placement: KEY_PLACES[provider.family] } }),
      ...(provider.selfHosted && { destination: provider.id }),
    };
    return {
      ...modelFacts(provider, model, this.#config.prices),
      provider: provider.id,
      model,
      credentialRef: key?.ref,
      family: () => loadFamily(provider.family),
      streams: 'merged',
      keepsPrefixes: keepsPrefixes(provider),
      reach: (io) => reachOf(terms, io),
    };
  }

  /** All providers that this tenant may use; endpoints of the operator are probed. */
  async list(owner: Owner): Promise<AiProvider[]> {
    const all = this.#offered(owner).map((provider) => this.#state(owner, provider));
    return [...(await Promise.all(all)), SCRIPTED];
  }

  /** `aiProviders` of the discovery document, for the tenant `default`. It includes Ollama once it was probed. */
  advertised(): Promise<JsonObject> {
    const { now } = this.#options;
    if (this.#told && now() < this.#told.at + TOLD_MS) return this.#told.advertised;
    const owner = ownerOf({ tenant: DEFAULT_TENANT });
    const isAsked = ({ id }: Provider): boolean => id !== OLLAMA || this.#probes.last(id) !== undefined;
    const offered = this.#offered(owner).filter(isAsked);
    const listed = Promise.all(offered.map((provider) => this.#state(owner, provider)));
    const keeping = offered.filter(keepsPrefixes).map(({ id }) => id);
    const advertised = listed.then((all) => advertisement(all, keeping));
    this.#told = { at: now(), advertised };
    advertised.catch(() => {
      this.#told = undefined;
    });
    return advertised;
  }

  /** Names of peer dependencies that models satisfy. Before the start those that the settings name. */
  async peers(testSeams: boolean): Promise<readonly [string, readonly string[]][]> {
    const { keys } = this.#options;
    const told = this.#isStarted ? await this.advertised() : namedBySettings(keys, this.#config);
    return peersOf(told, testSeams);
  }

  /** Why the provider, or any if none is named, cannot serve a chat; null when it can. Makes no request. */
  async lacks(owner: Owner, name: string | undefined): Promise<string | null> {
    try {
      const provider =
        name === undefined ? await this.#preferred(owner, 'chat') : this.#named(owner, name, 'chat');
      if (provider.key !== 'none' && !(await this.#key(owner, provider))) throw noKey(provider);
      return null;
    } catch (error) {
      if (error instanceof OpenwopError) return error.message;
      throw error;
    }
  }

  factsOf(name: string, model: string): ModelFacts | null {
    const provider = this.#find(name);
    return provider ? modelFacts(provider, model, this.#config.prices) : null;
  }

  /** Creates credentials for the keys in the environment. */
  async start(): Promise<void> {
    const { keys, credentials } = this.#options;
    this.#isStarted = true;
    if (keys.length === 0) return;
    const set = KNOWN_PROVIDERS.flatMap((provider) => {
      const variable = provider.variables.find((name) => keys.some((key) => key.name === name));
      const { baseUrl } = this.#table.get(provider.id) ?? provider;
      return variable === undefined ? [] : [{ provider, variable, host: new URL(baseUrl).hostname }];
    });
    await offerKeys(credentials.service, set);
  }

  #egress({ selfHosted, baseUrl }: Provider) {
    return this.#options.egress.for('provider', selfHosted ? [new URL(baseUrl).origin] : []);
  }

  #find(name: string): Provider | undefined {
    return this.#table.get(knownProvider(name)?.id ?? name);
  }

  #offered({ tenant }: Owner): Provider[] {
    return [...this.#table.values()].filter((provider) => mayUse(provider, tenant));
  }

  #policy({ tenant }: Owner, { id }: Provider) {
    return policyFor(this.#config.policies, tenant, id);
  }

  #key(owner: Owner, provider: Provider, named?: string): Promise<KeyChoice | null> {
    if (named !== undefined) return this.#keys.named(owner, named);
    if (provider.key === 'none') return Promise.resolve(null);
    return provider.key === 'usual'
      ? this.#keys.find(owner, provider.id)
      : this.#keys.named(owner, provider.key.credential);
  }

  #preferredBy(owner: Owner, task: Task, { prefers }: WantedModel): Provider | undefined {
    const found = prefers && this.#find(prefers.provider);
    return found && mayUse(found, owner.tenant) && can(found, task) ? found : undefined;
  }

  #named(owner: Owner, name: string, task: Task): Provider {
    const found = this.#find(name);
    if (found && mayUse(found, owner.tenant)) {
      if (can(found, task)) return found;
      throw cannot(
        found,
        task,
        this.#offered(owner).filter((one) => can(one, task)),
      );
    }
    const known = [...this.#offered(owner).map(({ id }) => id), ...SCRIPTED_PROVIDERS];
    throw new OpenwopError('provider_not_supported', {
      message: `There is no provider ${JSON.stringify(name)}.${didYouMean(name, known)} There are: ${known.join(', ')}.`,
      details: { providers: known },
    });
  }

  /** The default in the operator's file, else the first provider with a key or an endpoint that needs none. */
  async #preferred(owner: Owner, task: Task): Promise<Provider> {
    const { default: chosen, endpoints } = this.#config;
    const fromFile = chosen && this.#find(chosen.provider);
    if (fromFile && mayUse(fromFile, owner.tenant) && can(fromFile, task)) return fromFile;
    for (const one of this.#offered(owner)) {
      // Ollama is used only when it is named
      const isOffered = one.key !== 'none' || endpoints.some(({ id }) => id === one.id);
      const isOff = this.#policy(owner, one)?.mode === 'disabled';
      if (!isOffered || isOff || one.defaults[task] === undefined || !can(one, task)) continue;
      if (one.key === 'none' || (await this.#key(owner, one))) return one;
    }
    throw none(task);
  }

  async #model(owner: Owner, provider: Provider, { model, task }: WantedModel): Promise<string> {
    const { default: preset } = this.#config;
    const fromFile = preset?.provider === provider.id && task === 'chat' ? preset.model : undefined;
    const chosen = model ?? fromFile ?? provider.defaults[task] ?? (await this.#firstServed(owner, provider));
    if (chosen === undefined)
      throw unknownModel(
        `${provider.id} has no default model for ${task}. Name one.`,
        listedModels(provider),
      );
    if (provider.models && !provider.models.includes(chosen))
      throw unknownModel(
        `${provider.id} does not serve the model ${JSON.stringify(chosen)}.`,
        provider.models,
      );
    return chosen;
  }

  async #firstServed(owner: Owner, provider: Provider): Promise<string | undefined> {
    if (!provider.selfHosted) return undefined;
    const probed = await this.#probes.ask(provider, owner.tenant);
    if (!probed.answers) throw unreachable(provider.id);
    return probed.models[0];
  }

  async #state(owner: Owner, provider: Provider): Promise<AiProvider> {
    const { id, selfHosted, modalities, defaults } = provider;
    const facts = {
      id,
      selfHosted,
      ...(defaults.chat !== undefined && { defaultModel: defaults.chat }),
      models: [...listedModels(provider)],
      modalities: [...modalities],
      tasks: FAMILY_TASKS[provider.family].filter((task) => can(provider, task) && hasModel(provider, task)),
    };
    if (this.#policy(owner, provider)?.mode === 'disabled') return { ...facts, state: 'disabled' };
    const key = await this.#key(owner, provider).catch(() => null);
    const credential = key && { credential: key.ref };
    if (!key && provider.key !== 'none') return { ...facts, state: 'no-key', next: addKey(provider) };
    if (!selfHosted) return { ...facts, ...credential, state: 'ready' };
    const probed = await this.#probes.ask(provider, owner.tenant);
    if (!probed.answers) return { ...facts, ...credential, state: 'unreachable' };
    return { ...facts, ...credential, models: [...(provider.models ?? probed.models)], state: 'ready' };
  }
}

/** The tasks of each family. */
const FAMILY_TASKS: Record<FamilyName, readonly Task[]> = {
  anthropic: ['chat', 'search'],
  openai: ['chat', 'search', 'embedding', 'image', 'speech', 'transcription'],
  google: ['chat', 'search', 'embedding', 'image', 'speech', 'video'],
  'openai-compatible': ['chat', 'embedding', 'rerank', 'upscale'],
};

/** Few servers support these tasks: only those with models configured for them. */
const CONFIGURED: readonly Task[] = ['rerank', 'upscale'];

const can = ({ family, defaults }: Provider, task: Task): boolean =>
  FAMILY_TASKS[family].includes(task) && (!CONFIGURED.includes(task) || defaults[task] !== undefined);

/** A provider with a list of models supports only tasks with a default model. */
const hasModel = ({ models, defaults }: Provider, task: Task): boolean =>
  task === 'chat' || models === undefined || defaults[task] !== undefined;

const keepsPrefixes = ({ family }: Provider): boolean => PREFIX_FAMILIES.includes(family);

/** Needs no key or network, and is used only when named. */
const SCRIPTED: AiProvider = {
  id: 'scripted',
  state: 'ready',
  selfHosted: false,
  models: ['echo'],
  defaultModel: 'echo',
  modalities: ['text'],
  tasks: [...TASKS],
};
