import { randomBytes } from 'node:crypto';
import type { AnswerKeys } from '@gantry/surfaces';
import type { MasterKey } from '../master-key.ts';
import type { Redactions } from './redactions.ts';

const KEY_BYTES = 32;

type Place = Parameters<AnswerKeys['make']>[0];
const contextOf = ({ tenant, journalKey }: Place): string => `pack-data-journal/${tenant}/${journalKey}`;

/** Seals the journals of pack data, as `sealedJournal` does for those of the run store. */
export const answerKeys = (
  masterKey: Pick<MasterKey, 'seal' | 'open'>,
  redactions: Pick<Redactions, 'of'>,
): AnswerKeys => ({
  make(place) {
    if (redactions.of(place.tenant).isEmpty) return undefined;
    const key = randomBytes(KEY_BYTES);
    return { key, sealed: masterKey.seal(key.toString('base64'), contextOf(place)) };
  },
  open(place, sealed) {
    const key = masterKey.open(sealed, contextOf(place));
    if (key === null)
      throw new Error(`The record at ${place.journalKey} was sealed with another master key.`);
    return Buffer.from(key, 'base64');
  },
});
