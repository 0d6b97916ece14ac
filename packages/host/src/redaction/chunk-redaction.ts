/** Text that a node emits in pieces: a secret that is split between two of them is found too. */
import type { RedactedStream, Redactor } from '@gantry/protocol/redaction';

interface Open {
  readonly redactor: Redactor;
  readonly stream: RedactedStream;
}

export class ChunkRedaction {
  readonly #redactor: () => Redactor;
  /** By channel; the one without a name is undefined. */
  readonly #open = new Map<string | undefined, Open>();

  constructor(redactor: () => Redactor) {
    this.#redactor = redactor;
  }

  /** What may be written now. The rest comes with the next chunk, or with the last one. */
  push(channel: string | undefined, chunk: string, isLast: boolean): string {
    const redactor = this.#redactor();
    if (redactor.isEmpty) return chunk;
    const before = this.#open.get(channel);
    const isSame = before?.redactor === redactor;
    const { stream } = isSame ? before : { stream: redactor.stream() };
    // A value became known while the channel was open: what is held back is looked at again.
    const text = stream.push(isSame ? chunk : (before?.stream.end() ?? '') + chunk);
    if (!isLast) {
      this.#open.set(channel, { redactor, stream });
      return text;
    }
    this.#open.delete(channel);
    return text + stream.end();
  }

  /** What was held back in channels that had no last chunk. */
  rest(): (readonly [channel: string | undefined, text: string])[] {
    const rest = Array.from(this.#open, ([channel, { stream }]) => [channel, stream.end()] as const);
    this.#open.clear();
    return rest.filter(([, text]) => text !== '');
  }
}
