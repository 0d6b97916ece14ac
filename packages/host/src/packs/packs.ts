/** Packs of this host: installed, bound to workflows, run in the sandbox. */
import type { PackTypes } from '@gantry/engine';
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { InvocationLog } from '../runtime/invocation-log.ts';
import type { Executor } from '../runtime/side-effect.ts';
import type { Settings } from '../settings.ts';
import { knownTypes, pinnedTypes, pinPacks } from './binding.ts';
import { CodeFolders } from './code-folders.ts';
import { installListed } from './listed-packs.ts';
import { PackDesk } from './pack-desk.ts';
import { packExecutor } from './pack-executor.ts';
import { PackShelf } from './pack-shelf.ts';
import { Receipts } from './receipts.ts';
import { Sandboxes } from './sandboxes.ts';

export interface PacksOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly settings: Pick<Settings, 'dataDir' | 'packs' | 'sandbox' | 'packMemoryMb' | 'packTimeoutSeconds'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** What workflows ask of packs. */
export interface PackBinding {
  /** The definition with every pack that it uses named by version and content. */
  pin(tenant: string, definition: WorkflowDefinition): Promise<WorkflowDefinition>;
  typesOf(pinned: WorkflowDefinition): Promise<PackTypes>;
  /** Called when other packs may serve a workflow than before. */
  onChanged(listener: () => void): void;
}

export interface Packs extends PackBinding {
  /** Whether some installed pack offers a node type. */
  knownTypes(tenant: string): Promise<(typeId: string) => boolean>;
  readonly desk: PackDesk;
  readonly shelf: PackShelf;
  readonly sandboxes: Sandboxes;
  readonly folders: CodeFolders;
  readonly limits: PackLimits;
  readonly executor: (log: InvocationLog) => Executor;
  /** Removes leftovers and installs what the settings name. Before workflows are loaded. */
  prepare(): Promise<void>;
  stop(): Promise<void>;
}

export interface PackLimits {
  readonly memoryBytes: number;
  readonly wallClockMs: number;
}

export function createPacks(options: PacksOptions): Packs {
  const { store, settings, now, log } = options;
  const listeners: (() => void)[] = [];
  const shelf = new PackShelf(store.entries);
  const folders = new CodeFolders(settings.dataDir, shelf);
  const sandboxes = new Sandboxes(options);
  const receipts = new Receipts(options);
  const limits = {
    memoryBytes: settings.packMemoryMb * 1024 * 1024,
    wallClockMs: settings.packTimeoutSeconds * 1_000,
  };
  const changed = (): void => {
    for (const hear of listeners) hear();
  };
  const desk = new PackDesk({ store, shelf, sandboxes, receipts, now, changed });
  return {
    ...{ desk, shelf, sandboxes, folders, limits },
    executor: packExecutor({ shelf, folders, sandboxes, receipts, ...limits }),
    pin: (tenant, definition) => pinPacks(shelf, tenant, definition),
    typesOf: (pinned) => pinnedTypes(shelf, pinned),
    knownTypes: (tenant) => knownTypes(shelf, tenant),
    onChanged: (listener) => void listeners.push(listener),
    async prepare() {
      await folders.clean();
      await installListed({ listed: settings.packs, install: (request) => desk.install(request), log });
    },
    async stop() {
      await receipts.flush();
      await sandboxes.stop();
    },
  };
}
