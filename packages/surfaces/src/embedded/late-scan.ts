import { type ErrorCode, OpenwopError } from '@gantry/protocol';

export type ScannedArea = 'documents' | 'search' | 'vectors';

/** What a read that takes too long is refused with, and what to ask instead. Asking the same again would not help. */
const LATE: Readonly<Record<ScannedArea, readonly [ErrorCode, string]>> = {
  documents: [
    'validation_error',
    'Ask for fewer documents: by id, by an indexed column, or with a simpler filter.',
  ],
  search: ['search_query_syntax_error', 'Look for fewer or rarer words, or for shorter phrases.'],
  vectors: ['validation_error', 'Ask with a simpler filter, or keep the vectors in several collections.'],
};

export function lateScan(area: ScannedArea, scanMsMax: number): OpenwopError {
  const [code, instead] = LATE[area];
  return new OpenwopError(code, {
    message: `The query was ended: it found no answer within ${scanMsMax} ms. ${instead}`,
    details: { timeoutMs: scanMsMax },
  });
}
