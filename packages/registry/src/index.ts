export type { Catalogue, CatalogueName, PackSummary, PublishedVersion } from './catalogue/catalogue.ts';
export {
  createRegistry,
  REGISTRY_ACCESS,
  type Registry,
  type RegistryOptions,
  type RegistryPolicy,
} from './registry.ts';
export { openStorage, readStorageSetting, type StorageSetting } from './storage/open-storage.ts';
export type { ArchiveStorage } from './storage/storage.ts';
