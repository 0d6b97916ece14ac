/** Packs of this host: installed, bound to workflows, run in the sandbox. */
import type { EgressByPurpose } from '@gantry/egress';
import type { WorkflowDefinition } from '@gantry/protocol';
import { RemotePacks } from '@gantry/sandbox';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { ModelGate } from '../ai/model-gate.ts';
import { capabilityFamilies, type Families, type FamilyFacts } from '../api/families.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { InvocationLog } from '../runtime/invocation-log.ts';
import type { Executor } from '../runtime/outside-work.ts';
import type { Settings } from '../settings.ts';
import type { Surfaces } from '../surfaces/surfaces.ts';
import { knownTypes, type PinnedTypes, pinnedTypes, pinPacks } from './binding.ts';
import { CodeFolders } from './code-folders.ts';
import type { NodeSecrets } from './node-controls/node-secrets.ts';
import { createOffer, type Offer, type OfferOptions } from './offer.ts';
import { packExecutor } from './pack-executor.ts';
import { PackRecords } from './pack-records.ts';
import { PackService } from './pack-service.ts';
import { Receipts } from './receipts.ts';
import { registryPacks } from './registry-packs.ts';
import { Sandboxes } from './sandboxes.ts';
import { installSettings, type SettingsPacksOptions } from './settings-packs.ts';
import { type HostTrust, trustModes } from './trust.ts';
import { loadTrust } from './trust-file.ts';
import { UnusedContent } from './unused-content.ts';
import { workflowPins } from './workflow-pins.ts';

export interface PacksOptions {
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
  readonly settings: Settings;
  readonly surfaces: Surfaces;
  readonly egress: EgressByPurpose;
  readonly redactions: Redactions;
  readonly secrets: NodeSecrets;
  readonly modelGate: ModelGate;
  /** What discovery says of the host itself. */
  readonly facts: FamilyFacts;
  readonly models: OfferOptions['models'];
  readonly now: () => number;
  readonly log: Logger;
}

/** What workflows ask of packs. */
export interface PackBinding {
  /** The definition with every pack that it uses named by version and content. */
  pin(tenant: string, definition: WorkflowDefinition): Promise<WorkflowDefinition>;
  typesOf(pinned: WorkflowDefinition): Promise<PinnedTypes>;
  /** Called when other packs may serve a workflow than before. */
  onChanged(listener: () => void): void;
}

export interface Packs extends PackBinding {
  /** Whether some installed pack offers a node type. */
  knownTypes(tenant: string): Promise<(typeId: string) => boolean>;
  readonly service: PackService;
  readonly records: PackRecords;
  readonly sandboxes: Sandboxes;
  readonly folders: CodeFolders;
  readonly limits: PackLimits;
  readonly trust: () => Promise<HostTrust>;
  /** Every capability family of the discovery document. */
  readonly families: () => Promise<Families>;
  /** Names that `requires` of a node may have, as the discovery document lists them. */
  readonly runtimeCapabilities: readonly string[];
  /** What a pack may rely on here. */
  readonly offer: Offer;
  readonly executor: (log: InvocationLog) => Executor;
  /** Removes leftovers and installs what the settings name. Before workflows are loaded. */
  prepare(): Promise<void>;
  /** Deletes content that nothing needs any more. */
  sweep(): Promise<number>;
  stop(): Promise<void>;
}

const REMOTES = { connectionsMax: 64, idleMs: 60_000 };

export interface PackLimits {
  readonly memoryBytes: number;
  readonly wallClockMs: number;
}

export function createPacks(options: PacksOptions): Packs {
  const { store, settings, surfaces, egress, now } = options;
  const listeners: (() => void)[] = [];
  const records = new PackRecords(store);
  const folders = new CodeFolders(settings.dataDir, records);
  const unused = new UnusedContent({ store, folders, now });
  const sandboxes = new Sandboxes(options);
  const remotes = new RemotePacks({ egress: egress.for('remote-pack'), ...REMOTES, now });
  const receipts = new Receipts(options);
  const limits = limitsOf(settings);
  const families = loadedOnce(() => capabilityFamilies(options.facts, { limits, sandboxes }, surfaces));
  const runtimeCapabilities = Object.keys(surfaces.families).map((name) => `host.${name}`);
  const offer = createOffer({
    families,
    surfaces: surfaces.capabilities,
    models: options.models,
    hasPython: async () => (await sandboxes.python()) !== undefined,
  });
  const changed = (): void => {
    for (const hear of listeners) hear();
  };
  const trust = loadedOnce(() => loadTrust(settings));
  const { registries } = settings;
  const registry = registryPacks({ settings, egress, trust, offer });
  const service = new PackService({
    store,
    records,
    sandboxes,
    offer,
    receipts,
    surfaces: Object.keys(surfaces.families),
    trust,
    workflowPins: (tenant) => workflowPins(store.records, tenant),
    now,
    changed,
    registry,
    registries,
  });
  const shared = { records, folders, sandboxes, runtimeCapabilities };
  return {
    ...shared,
    service,
    limits,
    trust,
    families,
    offer,
    executor: packExecutor({
      ...options,
      ...shared,
      remotes,
      receipts,
      ...limits,
      environment: settings.packEnvironment,
      outputsWarned: settings.packOutputsWarned,
      surfaces: surfaces.membersFor,
    }),
    ...bindingOf(records),
    onChanged: (listener) => void listeners.push(listener),
    async prepare() {
      await folders.clean();
      await installListed(options, { records, registry, service, trust: await trust() });
    },
    sweep: () => unused.sweep(),
    async stop() {
      await receipts.flush();
      await sandboxes.stop();
      await remotes.stop();
    },
  };
}

const bindingOf = (records: PackRecords): Pick<Packs, 'pin' | 'typesOf' | 'knownTypes'> => ({
  pin: (tenant, definition) => pinPacks(records, tenant, definition),
  typesOf: (pinned) => pinnedTypes(records, pinned),
  knownTypes: (tenant) => knownTypes(records, tenant),
});

const limitsOf = ({ packMemoryMb, packTimeoutSeconds }: Settings): PackLimits => ({
  memoryBytes: packMemoryMb * 1024 * 1024,
  wallClockMs: packTimeoutSeconds * 1_000,
});

/** Loads again after a failure. */
function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** What the settings list. */
async function installListed(
  { settings, now, log }: PacksOptions,
  given: Pick<SettingsPacksOptions, 'records' | 'registry' | 'trust'> & { readonly service: PackService },
): Promise<void> {
  const { service, ...rest } = given;
  const { trustFile, registries } = settings;
  const isOfNote = trustFile !== undefined || registries.length > 0;
  log[isOfNote ? 'info' : 'debug'](trustModes(rest.trust, registries), 'trust in packs');
  await installSettings({ ...rest, settings, install: (plan) => service.run(plan), now, log });
}
