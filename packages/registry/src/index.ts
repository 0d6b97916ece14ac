export { createRegistry, REGISTRY_ACCESS } from './registry.ts';
export { openStorage } from './storage/open-storage.ts';
