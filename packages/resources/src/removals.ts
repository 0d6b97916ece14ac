/**
 * Records that belong to a removed one. Its removal leaves a tombstone in the same commit; a clock then removes what
 * belongs to it, in small commits. Until then its id is not used again, so that nothing new is removed with the old.
 */
import { OpenwopError, type Wire } from '@gantry/protocol';
import type { EntryReads } from '@gantry/store';
import { systemCaller } from './caller.ts';
import type { Change } from './change.ts';
import type { Changes } from './changes.ts';
import { indexed, listRecords, type RecordKind, type Stored } from './record-kind.ts';
import type { ParentKind } from './resource.ts';

const PER_COMMIT = 100;

export interface Tombstone {
  readonly kind: string;
  readonly id: string;
  /** Who removed it. */
  readonly actor: string;
  readonly at: number;
}

export const tombstones: RecordKind<Tombstone> = {
  kind: 'tombstone',
  idPrefix: 'tmb',
  dueAt: ({ at }) => at,
};

export const tombstoneId = ({ kind }: { readonly kind: string }, id: string): string => `${kind}/${id}`;

export const beingRemoved = ({ kind }: { readonly kind: string }): OpenwopError =>
  new OpenwopError('conflict', {
    message: `A ${kind} with this id was deleted, and what belongs to it is still being removed. Try again in a moment.`,
  });

/** A kind whose records may belong to others, of any record. */
export interface ChildKind extends RecordKind<never> {
  readonly wire: Wire;
  readonly parent?: ParentKind;
  remove?(record: never, stored: never, change: Change): void;
}

export interface RemovalOptions {
  readonly changes: Changes;
  readonly entries: EntryReads;
  readonly kinds: readonly ChildKind[];
}

/** Removes what belongs to a removed record, then its tombstone. */
export async function removeChildren(
  { changes, entries, kinds }: RemovalOptions,
  stored: Stored<Tombstone>,
): Promise<void> {
  const { tenant, workspace, record } = stored;
  const caller = systemCaller(record.actor, stored);
  for (const kind of kinds.filter(({ parent }) => parent?.kind === record.kind)) {
    const index = { name: kind.wire.parent!.id, value: indexed(kind, workspace, record.id) };
    for (let isLast = false; !isLast; ) {
      const children = await listRecords(entries, kind, tenant, { index, limit: PER_COMMIT });
      isLast = children.length < PER_COMMIT;
      if (children.length > 0)
        await changes.run(caller, async (change) => {
          for (const { id } of children) await removeChild(change, kind, id);
        });
    }
  }
  await changes.settle(record.actor, stored, null);
}

async function removeChild(change: Change, kind: ChildKind, id: string): Promise<void> {
  const child = await change.find(kind, id);
  if (!child) return;
  try {
    kind.remove?.(child.record, child as never, change);
  } catch (error) {
    // A record cannot refuse to be removed with its parent
    if (!(error instanceof OpenwopError)) throw error;
  }
  change.delete(child);
}
