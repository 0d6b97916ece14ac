/** One dispatched event of a `text/event-stream`. */
export interface SseFrame {
  /** The last `id:` of the stream, which may be from an earlier frame. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface SseParser {
  /** Accepts the next bytes, split anywhere; returns the frames that they complete. */
  push(bytes: Uint8Array): SseFrame[];
}

/**
 * Incremental parser by the WHATWG rules: lines end in LF, CR or CRLF, a blank line dispatches, a frame
 * without data is dropped, and so is an incomplete frame at the end of the stream. `retry:` is ignored: the
 * caller's policy controls reconnects.
 */
export function createSseParser(): SseParser {
  const decoder = new TextDecoder();
  let partial: string[] = [];
  let skipLf = false;
  let id = '';
  let event = '';
  let data: string[] = [];

  function field(name: string, value: string): void {
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }

  function line(text: string, frames: SseFrame[]): void {
    if (text === '') {
      if (data.length > 0) frames.push({ id, event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1);
    field(name, value.startsWith(' ') ? value.slice(1) : value);
  }

  return {
    push(bytes) {
      const frames: SseFrame[] = [];
      let text = decoder.decode(bytes, { stream: true });
      if (text === '') return frames;
      // A CR that ended the last chunk has already ended its line.
      if (skipLf && text[0] === '\n') text = text.slice(1);
      skipLf = text === '' ? false : text.endsWith('\r');
      const lines = text.split(/\r\n|\r|\n/);
      const rest = lines.pop() ?? '';
      for (const tail of lines) {
        line(partial.join('') + tail, frames);
        partial = [];
      }
      if (rest !== '') partial.push(rest);
      return frames;
    },
  };
}
