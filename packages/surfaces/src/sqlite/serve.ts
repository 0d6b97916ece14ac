/** The thread side: opens, reports the result, answers batches until it is closed, and may then open again. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { type Answer, failure } from '../refusal.ts';
import { type Asked, CLOSED, OPENED, type Reply, type Request } from './wire.ts';

export interface Server {
  answer(requests: readonly Asked[]): Answer[];
  close(): void;
}

/** Limits a transaction: its callers wait until it ends. */
const REQUESTS_MAX = 512;

/** Messages: first `T`, then batches, then null. Another `T` may follow. */
export function serve<T>(open: (data: T) => Server): void {
  const port = parentPort;
  if (!port) throw new Error('serve() runs in a worker thread');
  const send = (id: number, answer: Answer): void => port.postMessage([[id, answer]] satisfies Reply[]);
  let server: Server | undefined;
  const opening = (data: T): void => {
    try {
      server = open(data);
      send(OPENED, DONE);
    } catch (error) {
      send(OPENED, failure(error));
      port.close();
    }
  };
  port.on('message', (first: T | readonly Request[] | null) => {
    if (!server) return opening(first as T);
    const [requests, isLast] = collect(port, first as readonly Request[] | null);
    if (requests.length > 0) {
      const answers = server.answer(requests);
      port.postMessage(requests.map(({ id }, index): Reply => [id, answers[index]!]));
    }
    if (!isLast) return;
    server.close();
    server = undefined;
    send(CLOSED, DONE);
  });
}

const DONE: Answer = { kind: 'done', value: null };

/** Adds requests that arrived while the disk was busy. A null message means the end. */
function collect(port: MessagePort, first: readonly Request[] | null): [Request[], boolean] {
  if (first === null) return [[], true];
  const requests = [...first];
  while (requests.length < REQUESTS_MAX) {
    const next = receiveMessageOnPort(port);
    if (!next) break;
    if (next.message === null) return [requests, true];
    requests.push(...next.message);
  }
  return [requests, false];
}
