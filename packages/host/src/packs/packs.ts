/** Packs of this host: installed, bound to workflows, run in the sandbox. */
import type { EgressByPurpose } from '@gantry/egress';
import type { WorkflowDefinition } from '@gantry/protocol';
import { RemotePacks } from '@gantry/sandbox';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { ModelGate } from '../ai/model-gate.ts';
import { capabilityFamilies, type FamilyFacts } from '../api/families.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { Settings } from '../settings.ts';
import type { Surfaces } from '../surfaces/surfaces.ts';
import { SHARED } from '../workflows/shared.ts';
import { knownTypes, pinnedTypes, pinPacks } from './binding.ts';
import { CodeFolders } from './code-folders.ts';
import type { NodeSecrets } from './node-controls/node-secrets.ts';
import { createOffer, type OfferOptions } from './offer.ts';
import { packExecutor } from './pack-executor.ts';
import type { PackRecords } from './pack-records.ts';
import { PackService } from './pack-service.ts';
import { Receipts } from './receipts.ts';
import { registryPacks } from './registry-packs.ts';
import { Sandboxes } from './sandboxes.ts';
import { installSettings, type SettingsPacksOptions } from './settings-packs.ts';
import { trustModes } from './trust.ts';
import { loadTrust } from './trust-file.ts';
import { unusedContent } from './unused-content.ts';
import { workflowPins } from './workflow-pins.ts';

export interface PacksOptions {
  readonly records: PackRecords;
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
  readonly settings: Settings;
  readonly surfaces: Surfaces;
  readonly egress: EgressByPurpose;
  readonly redactions: Redactions;
  readonly secrets: NodeSecrets;
  readonly modelGate: ModelGate;
  /** Facts about the host for discovery. */
  readonly facts: FamilyFacts;
  readonly models: OfferOptions['models'];
  readonly now: () => number;
  readonly log: Logger;
}

export type Packs = ReturnType<typeof createPacks>;

/** The interface of packs to workflows. */
export type PackBinding = Pick<Packs, 'pin' | 'typesOf' | 'onChanged'>;

const REMOTES = { connectionsMax: 64, idleMs: 60_000 };

export interface PackLimits {
  readonly memoryBytes: number;
  readonly wallClockMs: number;
}

export function createPacks(options: PacksOptions) {
  const { records, store, settings, surfaces, egress, now } = options;
  const folders = new CodeFolders(settings.dataDir, records);
  const sandboxes = new Sandboxes(options);
  const remotes = new RemotePacks({ egress: egress.for('remote-pack'), ...REMOTES, now });
  const receipts = new Receipts(options);
  const limits = limitsOf(settings);
  const families = loadedOnce(() => capabilityFamilies(options.facts, { limits, sandboxes }, surfaces));
  /** Names that `requires` of a node may contain, as in the discovery document. */
  const runtimeCapabilities: readonly string[] = Object.keys(surfaces.families).map((name) => `host.${name}`);
  const offer = createOffer({
    families,
    surfaces: surfaces.capabilities,
    models: options.models,
    hasPython: async () => (await sandboxes.python()) !== undefined,
  });
  const trust = loadedOnce(() => loadTrust(settings));
  const { registries } = settings;
  const registry = registryPacks({ settings, egress, trust, offer });
  const shared = { records, folders, sandboxes, runtimeCapabilities, trust, offer };
  const service = new PackService({
    ...options,
    ...shared,
    receipts,
    surfaces: Object.keys(surfaces.families),
    workflowPins: (tenant) => workflowPins(store.records, tenant),
    changed: () => records.changed(),
    registry,
    registries,
  });
  return {
    ...shared,
    service,
    limits,
    /** Every capability family of the discovery document. */
    families,
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
    onChanged: records.onChanged,
    /** Removes leftovers and installs the packs of the settings. Called before workflows are loaded. */
    async prepare() {
      await folders.clean();
      await installListed(options, { records, registry, service, trust: await trust() });
    },
    /** Deletes content that is no longer needed. */
    sweep: unusedContent({ store, folders, now }),
    async stop() {
      await receipts.flush();
      await sandboxes.stop();
      await remotes.stop();
    },
  };
}

const bindingOf = (records: PackRecords) => ({
  /** The definition with every pack that it uses named by version and content. */
  pin: (tenant: string, definition: WorkflowDefinition) => pinPacks(records, tenant, definition),
  typesOf: (pinned: WorkflowDefinition) => pinnedTypes(records, pinned),
  /** Whether some installed pack offers a node type. */
  knownTypes: (tenant: string) => knownTypes(records, tenant),
});

const limitsOf = ({ packMemoryMb, packTimeoutSeconds }: Settings): PackLimits => ({
  memoryBytes: packMemoryMb * 1024 * 1024,
  wallClockMs: packTimeoutSeconds * 1_000,
});

/** Caches the result; loads again after a failure. */
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

/** Installs the packs that the settings list. */
async function installListed(
  { settings, now, log }: PacksOptions,
  given: Pick<SettingsPacksOptions, 'records' | 'registry' | 'trust'> & { readonly service: PackService },
): Promise<void> {
  const { service, ...rest } = given;
  const { trustFile, registries } = settings;
  const isOfNote = trustFile !== undefined || registries.length > 0;
  log[isOfNote ? 'info' : 'debug'](trustModes(rest.trust, registries), 'trust in packs');
  await installSettings({ ...rest, settings, install: (prepare) => service.run(SHARED, prepare), now, log });
}
