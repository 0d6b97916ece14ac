/** What an entry of kv or cache takes of the room of its tenant, in every backend. Threads load this file. */
import { bytesOf } from '../../text.ts';

/** For rows and indexes beside the texts: else a tenant could have any number of empty entries. */
export const ENTRY_OVERHEAD_BYTES = 256;

export const entryBytes = (
  { namespace, key }: { readonly namespace: string; readonly key: string },
  json: string,
): number => ENTRY_OVERHEAD_BYTES + bytesOf(namespace) + bytesOf(key) + bytesOf(json);
