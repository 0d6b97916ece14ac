/** Runs in the converter's process only: unpacking takes as long as whoever packed wants it to. */
import { FORMATS } from '../archive/formats.ts';
import type { Message } from './frame.ts';
import type { ArchiveTask } from './task.ts';

export async function convertArchive(task: ArchiveTask, parts: readonly Uint8Array[]): Promise<Message> {
  const { read, write } = FORMATS[task.format];
  switch (task.op) {
    case 'create': {
      const files = task.paths.map((path, index) => ({ path, bytes: parts[index]! }));
      return { head: null, parts: [await write(files)] };
    }
    case 'extract': {
      const { buffer, byteOffset, byteLength } = parts[0]!;
      const { files, folders } = read(Buffer.from(buffer, byteOffset, byteLength));
      const head = { files: files.map(({ path }) => path), folders };
      return { head, parts: files.map(({ bytes }) => bytes) };
    }
  }
}
