/** On whose behalf something is kept or done. Where nothing says otherwise, the workspace is `default`. */
export interface Owner {
  readonly tenant: string;
  readonly workspace: string;
  /** Null for what the host does by itself, such as a run that a trigger began. */
  readonly principal: string | null;
}

export const DEFAULT_WORKSPACE = 'default';

/** The owner that the wire names in part. */
export const ownerOf = ({
  tenant,
  workspace,
  principal,
}: {
  readonly tenant: string;
  readonly workspace?: string | null | undefined;
  readonly principal?: string | null | undefined;
}): Owner => ({ tenant, workspace: workspace ?? DEFAULT_WORKSPACE, principal: principal ?? null });
