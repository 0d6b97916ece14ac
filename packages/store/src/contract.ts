/** What every adapter must do: I1 to I4 of the port, through the port. */
import { after, before, beforeEach, describe } from 'node:test';
import { commitContract } from './contract/commit.ts';
import { entryContract } from './contract/entries.ts';
import { entryIndexContract } from './contract/entry-index.ts';
import { entryReadContract } from './contract/entry-reads.ts';
import { feedContract } from './contract/feed.ts';
import { leaseContract } from './contract/leases.ts';
import { modelContract } from './contract/model-property.ts';
import { pipelineContract } from './contract/pipeline.ts';
import { preconditionContract } from './contract/preconditions.ts';
import { recordContract } from './contract/records.ts';
import { retentionContract } from './contract/retention.ts';
import { runContract } from './contract/runs.ts';
import type { Store } from './port.ts';

export interface OpenedStore {
  readonly store: Store;
  /** Empties every table: opening anew for each test takes most of the time of the suite. */
  clear(): Promise<void>;
  /** How many blobs are stored: the port hides them, retention must not. */
  blobCount(): Promise<number>;
  close(): Promise<void>;
}

/** Answers the store of the suite that is running. */
export type CurrentStore = () => OpenedStore;

/** Each test finds the store of `open` empty. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} store`, () => {
    let opened: OpenedStore | null = null;
    const current: CurrentStore = () => {
      if (!opened) throw new Error('the store is not open');
      return opened;
    };
    before(async () => {
      opened = await open();
    });
    beforeEach(() => current().clear());
    after(() => current().close());
    commitContract(current);
    runContract(current);
    recordContract(current);
    entryContract(current);
    entryReadContract(current);
    entryIndexContract(current);
    preconditionContract(current);
    feedContract(current);
    pipelineContract(current);
    leaseContract(current);
    retentionContract(current);
    modelContract(current);
  });
}
