/** Redacts text that a node emits in chunks: also finds a secret that is split between two of them. */
import type { RedactedStream, Redactor } from '@gantry/protocol/redaction';

interface Open {
  readonly redactor: Redactor;
  readonly stream: RedactedStream;
}

export class ChunkRedaction {
  readonly #redactor: () => Redactor;
  /** By channel; undefined is the unnamed one. */
  readonly #open = new Map<string | undefined, Open>();

  constructor(redactor: () => Redactor) {
    this.#redactor = redactor;
  }

  /** Returns the text that can be written now. The rest follows with the next chunk, or with the last one. */
  push(channel: string | undefined, chunk: string, isLast: boolean): string {
    const redactor = this.#redactor();
    if (redactor.isEmpty) return chunk;
    const before = this.#open.get(channel);
    const isSame = before?.redactor === redactor;
    const { stream } = isSame ? before : { stream: redactor.stream() };
    // A value was added while the channel was open: redact the held back text again.
    const text = stream.push(isSame ? chunk : (before?.stream.end() ?? '') + chunk);
    if (!isLast) {
      this.#open.set(channel, { redactor, stream });
      return text;
    }
    this.#open.delete(channel);
    return text + stream.end();
  }

  /** The held back text of channels that had no last chunk. */
  rest(): (readonly [channel: string | undefined, text: string])[] {
    const rest = Array.from(this.#open, ([channel, { stream }]) => [channel, stream.end()] as const);
    this.#open.clear();
    return rest.filter(([, text]) => text !== '');
  }
}
