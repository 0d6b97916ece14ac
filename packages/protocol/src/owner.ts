import type { RunOwner } from './run.ts';

/** The owner of data and work. The default workspace is `default`. */
export interface Owner {
  readonly tenant: string;
  readonly workspace: string;
  /** Null for work of the host itself, such as a run that a trigger started. */
  readonly principal: string | null;
}

export const DEFAULT_WORKSPACE = 'default';

/** The name of a workspace in stored keys. That of the default one has always been empty there. */
export const workspaceKey = (workspace: string): string => (workspace === DEFAULT_WORKSPACE ? '' : workspace);

interface PartialOwner {
  readonly tenant: string;
  readonly workspace?: string | null | undefined;
  readonly principal?: string | null | undefined;
}

/** The owner from its partial form on the wire. */
export const ownerOf = ({ tenant, workspace, principal }: PartialOwner): Owner => ({
  tenant,
  workspace: workspace ?? DEFAULT_WORKSPACE,
  principal: principal ?? null,
});

/** The owner of a run, as the wire has it: without the default workspace, and without a principal if it has none. */
export const runOwnerOf = ({ tenant, workspace, principal }: PartialOwner): RunOwner => ({
  tenant,
  ...(workspace != null && workspace !== DEFAULT_WORKSPACE && { workspace }),
  ...(principal != null && { principal }),
});
