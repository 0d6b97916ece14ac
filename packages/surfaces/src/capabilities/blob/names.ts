/** Rules for keys and content types, the same for every backend. */
import { invalid } from '@gantry/protocol';
import { KEY_BYTES_MAX } from '../../ports/blobs.ts';

/** Names separated by single slashes: safe for stores that use files, and for clients that normalize paths. */
export function checkKey(key: string): void {
  const problem = problemOf(key);
  if (problem === undefined) return;
  throw invalid(`The key of an object ${problem}.`);
}

function problemOf(key: string): string | undefined {
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) return `can have at most ${KEY_BYTES_MAX} bytes`;
  if (!key.isWellFormed() || /\p{Cc}/u.test(key)) return 'must be text without control characters';
  const names = key.split('/');
  if (names.includes('')) return 'must be names with single slashes between them';
  return names.some((name) => /^\.{1,2}$/.test(name)) ? 'must not contain "." or ".." as a name' : undefined;
}

const CONTENT_TYPE =
  /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(; ?[\w-]{1,32}=("[\w ./:+-]{1,64}"|[\w./:+-]{1,64})){0,4}$/;

/** For uploads by link: an invalid type is dropped, since the sender cannot correct it. */
export const knownType = (given: string | undefined): string | null =>
  given !== undefined && CONTENT_TYPE.test(given) ? given : null;

/** The value becomes a header: other characters could inject headers. */
export function contentTypeOf(given: string | undefined): string | null {
  const known = knownType(given);
  if (given === undefined || known !== null) return known;
  throw invalid('The content type must look like `text/plain; charset=utf-8`.');
}
