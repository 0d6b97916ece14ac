/** For tests: a small real host that speaks the protocol's outer edge, and the CLI here or as a child process. */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCli } from '../cli.ts';
import type { Io, Output } from '../io.ts';

export const KEY = 'hk_test_key';
export const RUN = 'run-1';

export interface Exchange {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

export interface TestHost {
  url: string;
  seen: Exchange[];
}

export interface TestEvent {
  type: string;
  sequence: number;
  [field: string]: unknown;
}

/** A stream stays open unless its last event ends the run. */
export type Answer = { status: number; body: unknown } | { stream: readonly TestEvent[] };
/** By `METHOD /path`. */
export type Routes = Readonly<Record<string, Answer>>;

/** Everything below `/v1/` asks for the key. */
export async function startTestHost(t: TestContext, routes: Routes = {}): Promise<TestHost> {
  const seen: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const exchange = await readExchange(request);
    seen.push(exchange);
    send(response, answerFor({ ...HEALTHY, ...routes }, exchange, request.headers.authorization));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const HEALTHY: Routes = {
  'GET /healthz': { status: 200, body: { status: 'ok' } },
  'GET /readyz': { status: 200, body: { status: 'ok' } },
  'GET /.well-known/openwop': {
    status: 200,
    body: {
      protocolVersion: '1.0',
      supportedEnvelopes: [],
      schemaVersions: {},
      limits: { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 },
    },
  },
  'GET /v1/host/gantry/runs': { status: 200, body: { runs: [] } },
};

async function readExchange(request: IncomingMessage): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '', 'http://host');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function answerFor(routes: Routes, { method, path }: Exchange, authorization: string | undefined): Answer {
  if (path.startsWith('/v1/') && authorization !== `Bearer ${KEY}`) {
    return { status: 401, body: { error: 'unauthenticated', message: 'No valid API key was sent.' } };
  }
  return (
    routes[`${method} ${path}`] ?? { status: 404, body: { error: 'not_found', message: 'Nothing here.' } }
  );
}

function send(response: ServerResponse, answer: Answer): void {
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of answer.stream) {
    response.write(`id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  const last = answer.stream.at(-1)?.type ?? '';
  if (/^run\.(completed|failed|cancelled)$/.test(last)) response.end();
}

/** A log from `[type, fields]` pairs, 100 ms apart. */
export function runLog(
  ...entries: readonly (readonly [string, { nodeId?: string; [field: string]: unknown }])[]
) {
  return entries.map(([type, { nodeId, ...payload }], sequence) => ({
    eventId: `${RUN}.${sequence}`,
    runId: RUN,
    type,
    ...(nodeId !== undefined && { nodeId }),
    payload: nodeId === undefined ? payload : { nodeId, ...payload },
    timestamp: new Date(Date.UTC(2026, 0, 1) + sequence * 100).toISOString(),
    sequence,
    schemaVersion: 1,
    engineVersion: '1',
  }));
}

export interface MemoryOutput extends Output {
  text: string;
}

export function memoryOutput(isTTY: boolean): MemoryOutput {
  return {
    text: '',
    isTTY,
    columns: 80,
    write(text) {
      this.text += text;
    },
  };
}

/** A command line without a process around it: no environment, no terminal. */
export function memoryIo(): { io: Io; out: MemoryOutput; err: MemoryOutput } {
  const out = memoryOutput(false);
  const err = memoryOutput(false);
  const signal = new AbortController().signal;
  const stdin = { isTTY: false, ask: async () => undefined, read: async () => '' };
  return { io: { stdin, stdout: out, stderr: err, env: {}, cwd: tmpdir(), now: Date.now, signal }, out, err };
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  finished: Promise<Finished>;
  /** Resolves when stdout or stderr contains the text. */
  says(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

const BIN = fileURLToPath(new URL('../../bin/gantry.js', import.meta.url));

/** The whole process, which takes most of a second: for what only it does, such as signals. */
export function startCli(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Started {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH ?? '', NODE_NO_WARNINGS: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
      for (const look of waiting) look();
    });
  }
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }));
  });
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!(output.stdout + output.stderr).includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      finished.then(() => reject(new Error(`ended without saying "${text}": ${JSON.stringify(output)}`)));
    });
  return { finished, says, kill: (signal) => void child.kill(signal) };
}

/** One command line in this process. */
export async function runHere(
  args: readonly string[],
  around: Partial<Pick<Io, 'env' | 'cwd'>> = {},
): Promise<Finished> {
  const { io, out, err } = memoryIo();
  const code = await runCli(args, { ...io, ...around });
  return { code, stdout: out.text, stderr: err.text };
}

/** The same against a test host, with its key. */
export const cli = (host: TestHost, ...args: string[]): Promise<Finished> =>
  runHere(args, { env: { GANTRY_URL: host.url, GANTRY_API_KEY: KEY } });
