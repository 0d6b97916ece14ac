export type { Caller, NodeCaller } from './caller.ts';
export type { Change, StartingRun } from './change.ts';
export { Changes, type ChangesOptions, Contended, leaseLost, leaseOf } from './changes.ts';
export {
  creation,
  everyRecord,
  fromEntry,
  listRecords,
  putting,
  type RecordKind,
  readRecord,
  type Stored,
  toEntry,
} from './record-kind.ts';
export {
  type Matching,
  mustMatch,
  type Resource,
  ResourceService,
  resource,
  type ServiceOptions,
  type Shown,
} from './resource.ts';
export { openSecret, type Sealer, type Secret } from './secret.ts';
