export { type Caller, type NodeCaller, personCaller, systemCaller } from './caller.ts';
export type { Change, StartingRun } from './change.ts';
export { Changes, type ChangesOptions, Contended, leaseLost, leaseOf } from './changes.ts';
export {
  creation,
  everyRecord,
  fromEntry,
  indexed,
  keyOf,
  listRecords,
  missing,
  putting,
  type RecordKind,
  readRecord,
  type Stored,
  toEntry,
  workspaceOf,
} from './record-kind.ts';
export { type ChildKind, removeChildren, type Tombstone, tombstones } from './removals.ts';
export { type Resource, resource } from './resource.ts';
export { ResourceService, type ServiceOptions } from './resource-service.ts';
export { openSecret, type Sealer, type Secret } from './secret.ts';
export { type Matching, mustMatch, type Shown, type Within } from './within.ts';
