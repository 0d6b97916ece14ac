/** One task in one process: a message comes in, a message goes out, the process ends. */
import { buffer } from 'node:stream/consumers';
import { decode, encode, type Message } from './frame.ts';
import { OUTPUT_BYTES_MAX, type Task, Unconvertible } from './task.ts';

async function perform(task: Task, parts: readonly Uint8Array[]): Promise<Message> {
  switch (task.kind) {
    case 'image':
      return (await import('./images.ts')).convertImage(task, parts);
    case 'pdf':
      return (await import('./pdfs.ts')).convertPdf(task, parts);
  }
}

async function answer(): Promise<Message> {
  const { head, parts } = decode(await buffer(process.stdin));
  try {
    const made = await perform(head as Task, parts);
    const bytes = made.parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (bytes > OUTPUT_BYTES_MAX)
      throw new Unconvertible(`The result has more than ${OUTPUT_BYTES_MAX} bytes.`, { isTooLarge: true });
    return { head: { ok: true, value: made.head }, parts: made.parts };
  } catch (error) {
    if (!(error instanceof Unconvertible)) throw error;
    return { head: { ok: false, message: error.message, isTooLarge: error.isTooLarge }, parts: [] };
  }
}

process.stdout.end(encode(await answer()));
