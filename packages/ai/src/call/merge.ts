/** When arriving text is emitted: the first piece at once, later ones together. */
const MERGE_MS = 50;
const MERGE_MS_BUSY = 250;
const BUSY_STREAMS = 50;

/** How long pieces are collected with this number of active streams. */
export const mergeMs = (streams: number): number => (streams > BUSY_STREAMS ? MERGE_MS_BUSY : MERGE_MS);

/** A log event is at most 64 KiB; a character takes at most six bytes of JSON. */
export const CHUNK_LENGTH_MAX = 8_192;

/** Never splits a surrogate pair. */
export function cutText(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + CHUNK_LENGTH_MAX, text.length);
    const unit = text.charCodeAt(end - 1);
    if (end < text.length && unit >= 0xd800 && unit < 0xdc00) end--;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
