/** For tests of parts that know nothing of packs. */
import type { PackBinding } from '../packs/packs.ts';
import type { Executor } from '../runtime/outside-work.ts';

export const noPacks: PackBinding = {
  pin: async (_tenant, definition) => definition,
  typesOf: async () => ({ packTypes: () => undefined, artifactTypes: () => undefined }),
  onChanged() {},
};

export const noPackExecutor =
  (): Executor =>
  async (_key, { typeId }) => {
    throw new Error(`${typeId} is a type of a pack`);
  };
