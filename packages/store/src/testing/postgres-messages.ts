/** Reads the messages of PostgreSQL's protocol (version 3) out of a stream, as far as the proxy needs them. */

export const READY_FOR_QUERY = 'Z';
const QUERY = 'Q';
const PARSE = 'P';
const BIND = 'B';
const SYNC = 'S';

export interface Message {
  readonly type: string;
  readonly body: Buffer;
}

export class MessageReader {
  #rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #hasStarted: boolean;

  /** What a client sends first has no type. */
  constructor({ startsUntyped = false } = {}) {
    this.#hasStarted = !startsUntyped;
  }

  *read(bytes: Buffer): Generator<Message> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#hasStarted ? 1 : 0;
      if (this.#rest.length < head + 4) return;
      const end = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < end) return;
      const type = head === 0 ? '' : String.fromCharCode(this.#rest[0]!);
      const body = this.#rest.subarray(head + 4, end);
      this.#rest = this.#rest.subarray(end);
      this.#hasStarted = true;
      yield { type, body };
    }
  }
}

export interface SentStatement {
  readonly text: string;
  /** It is answered when so many ReadyForQuery have come back. */
  readonly answersUpTo: number;
}

/** The statements that a client has the server carry out. */
export class FrontendMessages {
  readonly #messages = new MessageReader({ startsUntyped: true });
  readonly #prepared = new Map<string, string>();
  #asked = 0;

  *read(bytes: Buffer): Generator<SentStatement> {
    for (const { type, body } of this.#messages.read(bytes)) {
      const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
      if (type === PARSE) this.#prepared.set(first, second);
      if (type === SYNC || type === QUERY) this.#asked++;
      if (type === QUERY) yield { text: first.trim(), answersUpTo: this.#asked };
      if (type === BIND)
        yield { text: (this.#prepared.get(second) ?? '').trim(), answersUpTo: this.#asked + 1 };
    }
  }
}
