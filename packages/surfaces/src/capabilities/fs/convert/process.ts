/** One task per process: receives a message, sends a message, and ends. */
import { type Message, receive, send } from './frame.ts';
import { BYTES_MAX, type Task, Unconvertible } from './task.ts';

async function perform(task: Task, parts: readonly Uint8Array[]): Promise<Message> {
  switch (task.kind) {
    case 'image':
      return (await import('./images.ts')).convertImage(task, parts);
    case 'pdf':
      return (await import('./pdfs.ts')).convertPdf(task, parts);
    case 'archive':
      return (await import('./archives.ts')).convertArchive(task, parts);
  }
}

async function answer(): Promise<Message> {
  // The host has checked the size of what it sends
  const { head, parts } = await receive(process.stdin, Number.MAX_SAFE_INTEGER);
  try {
    const task = head as Task;
    const made = await perform(task, parts);
    const bytesMax = BYTES_MAX[task.kind].output;
    const bytes = made.parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (bytes > bytesMax)
      throw new Unconvertible(`The result has more than ${bytesMax} bytes.`, 'file_too_large');
    return { head: { ok: true, value: made.head }, parts: made.parts };
  } catch (error) {
    if (!(error instanceof Unconvertible)) throw error;
    return { head: { ok: false, message: error.message, code: error.code }, parts: [] };
  }
}

send(process.stdout, await answer());
