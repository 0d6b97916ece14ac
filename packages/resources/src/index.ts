export type { Caller } from './caller.ts';
export type { Change } from './change.ts';
export { Changes, type ChangesOptions } from './changes.ts';
export type { RecordKind, Stored } from './record-kind.ts';
export { type Resource, type ResourceService, resource } from './resource.ts';
