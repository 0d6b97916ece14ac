/**
 * The bare limit: what HTTP plus fsynced group commit can do on this machine with nothing in between.
 * Each POST is parsed, one event is committed, the answer goes out, then eight more events are committed.
 * No engine, no access control, no validation: a host that does those can only be slower.
 *
 * node bench/bare/server.ts --file <database> [--commit-delay-ms 6]
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type Batch, type Cell, EVENTS_AFTER_CREATE, type WriterOptions } from './batch.ts';

const { values } = parseArgs({
  options: { file: { type: 'string' }, 'commit-delay-ms': { type: 'string', default: '0' } },
});
if (!values.file) throw new Error('--file <database> is missing');
const workerData: WriterOptions = { file: values.file, commitDelayMs: Number(values['commit-delay-ms']) };
const writer = new Worker(new URL('./writer.ts', import.meta.url), { workerData });

interface Created {
  readonly runId: string;
  readonly response: ServerResponse;
}

let arrived: Created[] = [];
let answered: string[] = [];
let writing: { readonly created: readonly Created[] } | undefined;
let runs = 0;

function firstEvents(created: readonly Created[], at: number): Cell[] {
  const cells: Cell[] = [];
  for (const { runId } of created) cells.push(runId, 0, 'run.started', at, null, '{"inputs":{}}');
  return cells;
}

function laterEvents(runIds: readonly string[], at: number): Cell[] {
  const cells: Cell[] = [];
  for (const runId of runIds) {
    for (let sequence = 1; sequence <= EVENTS_AFTER_CREATE; sequence++) {
      cells.push(runId, sequence, 'node.completed', at, 'first', '{"nodeId":"first","outputs":{}}');
    }
  }
  return cells;
}

/** Everything that arrived while the last batch was written goes into the next one. */
function flush(): void {
  if (writing || (arrived.length === 0 && answered.length === 0)) return;
  const at = Date.now();
  const batch: Batch = [
    { rowsPerGroup: 1, cells: firstEvents(arrived, at) },
    { rowsPerGroup: EVENTS_AFTER_CREATE, cells: laterEvents(answered, at) },
  ];
  writing = { created: arrived };
  arrived = [];
  answered = [];
  writer.postMessage(batch);
}

writer.on('message', () => {
  const created = writing?.created ?? [];
  writing = undefined;
  for (const { runId, response } of created) {
    answered.push(runId);
    reply(response, 201, `{"runId":"${runId}","status":"pending","eventsUrl":"","statusUrl":""}`);
  }
  flush();
});

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function create(text: string, response: ServerResponse): void {
  JSON.parse(text);
  if (arrived.length === 0) setImmediate(flush);
  arrived.push({ runId: `run-${String(runs++).padStart(12, '0')}`, response });
}

/** The one read it has: which runs still owe events, as the host answers it. */
function list(response: ServerResponse): void {
  const isDone = !writing && arrived.length === 0 && answered.length === 0;
  reply(response, 200, isDone ? '{"runs":[]}' : '{"runs":[{}]}');
}

function onRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'POST') {
    list(response);
    return;
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => create(text, response));
}

const server = createServer(onRequest);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`bare limit on http://127.0.0.1:${port}`);
});

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  writer.postMessage('close');
});
