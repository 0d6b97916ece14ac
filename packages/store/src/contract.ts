/** What every adapter must do: I1 to I4 of the port, through the port. */
import { afterEach, beforeEach, describe } from 'node:test';
import { commitContract } from './contract/commit.ts';
import { leaseContract } from './contract/leases.ts';
import { modelContract } from './contract/model-property.ts';
import { recordContract } from './contract/records.ts';
import { retentionContract } from './contract/retention.ts';
import { runContract } from './contract/runs.ts';
import type { Store } from './port.ts';

export interface OpenedStore {
  readonly store: Store;
  /** How many blobs are stored: the port hides them, retention must not. */
  blobCount(): Promise<number>;
  close(): Promise<void>;
}

/** Answers the store of the test that is running. */
export type CurrentStore = () => OpenedStore;

/** Each test gets a store of its own from `open`. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} store`, () => {
    let opened: OpenedStore | null = null;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened?.close();
      opened = null;
    });
    const current: CurrentStore = () => {
      if (!opened) throw new Error('no test is running');
      return opened;
    };
    commitContract(current);
    runContract(current);
    recordContract(current);
    leaseContract(current);
    retentionContract(current);
    modelContract(current);
  });
}
