/** Reads one SSE stream from a raw socket and hands over each event's name and data line. */
import net from 'node:net';
import { requestBytes, type Target } from './http.ts';

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

export interface StreamHandlers {
  readonly onOpen?: () => void;
  readonly onEvent: (event: StreamEvent) => void;
  /** Once; with an error if the stream did not start with 200 or broke. */
  readonly onEnd: (error?: Error) => void;
}

const field = (block: string, name: string): string => {
  const start = block.startsWith(`${name}:`) ? 0 : block.indexOf(`\n${name}:`) + 1;
  if (start === 0 && !block.startsWith(`${name}:`)) return '';
  const end = block.indexOf('\n', start);
  return block.slice(start + name.length + 1, end < 0 ? undefined : end).trim();
};

/** Cuts text into events. Chunk sizes of a chunked body stand on their own lines and name no field. */
export function eventSplitter(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const blocks = (rest + text.replaceAll('\r\n', '\n')).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = field(block, 'data');
      if (data !== '') onEvent({ name: field(block, 'event'), data });
    }
  };
}

/** Answers how to stop. */
export function openEventStream(target: Target, path: string, handlers: StreamHandlers): () => void {
  const socket = net.connect({ port: target.port, host: '127.0.0.1', noDelay: true });
  const split = eventSplitter(handlers.onEvent);
  let head: string | null = '';
  let ended = false;
  const end = (error?: Error): void => {
    if (ended) return;
    ended = true;
    socket.destroy();
    handlers.onEnd(error);
  };
  socket.setEncoding('latin1');
  const headers = ['Accept: text/event-stream', 'Connection: close'];
  socket.on('connect', () => socket.write(requestBytes(target, 'GET', path, { headers })));
  socket.on('data', (chunk: string) => {
    if (head === null) return split(chunk);
    head += chunk;
    const headEnd = head.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    if (!head.startsWith('HTTP/1.1 200')) return end(new Error(`stream refused: ${head.split('\r\n', 1)}`));
    handlers.onOpen?.();
    const body = head.slice(headEnd + 4);
    head = null;
    split(body);
  });
  socket.on('error', end);
  socket.on('close', () => end());
  return () => end();
}
