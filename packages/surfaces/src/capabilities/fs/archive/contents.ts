/** The contents of an archive, and refusals that apply to every format. */
import { Unconvertible } from '../convert/task.ts';
import { ENTRIES_MAX, NAME_BYTES_MAX, unpackedBytesMax } from './limits.ts';

export interface ArchiveFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Paths are as in the archive, not checked. */
export interface Contents {
  readonly files: ArchiveFile[];
  readonly folders: string[];
}

const SHOWN_MAX = 200;
const shown = (path: string): string => JSON.stringify(path.slice(0, SHOWN_MAX));

export const damaged = (problem: string): Unconvertible => new Unconvertible(`The archive ${problem}.`);

export const badEntry = (path: string, problem: string): Unconvertible =>
  new Unconvertible(`The entry ${shown(path)} of the archive ${problem}.`);

export const link = (path: string): Unconvertible =>
  new Unconvertible(`The entry ${shown(path)} of the archive is a link.`, 'path_outside_sandbox');

export const special = (path: string): Unconvertible =>
  new Unconvertible(
    `The entry ${shown(path)} of the archive is a device, a pipe or a socket.`,
    'fs_permission_denied',
  );

/** Counts the declared contents of an archive before any of it is unpacked. */
export class Tally {
  readonly #bytesMax: number;
  #entries = 0;
  #bytes = 0;

  constructor(packedBytes: number) {
    this.#bytesMax = unpackedBytesMax(packedBytes);
  }

  count(path: string, bytes: number): void {
    if (Buffer.byteLength(path) > NAME_BYTES_MAX)
      throw badEntry(path, `has a name of more than ${NAME_BYTES_MAX} bytes`);
    this.#entries++;
    if (this.#entries > ENTRIES_MAX)
      throw new Unconvertible(`The archive has more than ${ENTRIES_MAX} entries.`, 'file_too_large');
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax)
      throw new Unconvertible(
        `The archive unpacks to more than ${this.#bytesMax} bytes with its entry ${shown(path)}.`,
        'file_too_large',
      );
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Names in other encodings are refused, not guessed. */
export function nameOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw damaged(`has a name that is not UTF-8: ${shown(Buffer.from(bytes).toString('latin1'))}`);
  }
}
