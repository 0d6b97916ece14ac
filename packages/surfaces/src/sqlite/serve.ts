/** The side of a thread: opens, reports that, then answers batches until it is closed. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { type Answer, failure } from '../refusal.ts';
import { type Asked, OPENED, type Reply, type Request } from './wire.ts';

export interface Server {
  answer(requests: readonly Asked[]): Answer[];
  close(): void;
}

/** A transaction that never ends would keep every one of its callers waiting. */
const REQUESTS_MAX = 512;

export function serve(open: () => Server): void {
  const port = parentPort;
  if (!port) throw new Error('serve() runs in a worker thread');
  let server: Server;
  try {
    server = open();
    port.postMessage([[OPENED, { kind: 'done', value: null }]] satisfies Reply[]);
  } catch (error) {
    port.postMessage([[OPENED, failure(error)]] satisfies Reply[]);
    port.close();
    return;
  }
  port.on('message', (first: readonly Request[] | null) => {
    const [requests, isLast] = collect(port, first);
    if (requests.length > 0) {
      const answers = server.answer(requests);
      port.postMessage(requests.map(({ id }, index): Reply => [id, answers[index]!]));
    }
    if (!isLast) return;
    server.close();
    port.close();
  });
}

/** With what arrived while the disk was busy; null stands for the end. */
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
