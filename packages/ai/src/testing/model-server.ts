/** A server of one family over real HTTP: it plays scripts, with their faults, and counts what it served. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultName, RETRY_AFTER_MS, type Script, type ScriptTurn, usageOf } from '../scripted/script.ts';
import type { Asked, Dialect } from './dialect.ts';
import { answerMedia, type MediaAnswers } from './media-answers.ts';

export interface ServedRequest extends Asked {
  readonly headers: IncomingMessage['headers'];
}

export type Step = 'asked' | 'half' | 'answered';

export interface ModelServer {
  readonly baseUrl: string;
  readonly requests: ServedRequest[];
  /** What each model says from now on; a turn for each request. */
  play(model: string, script: Script): void;
  /** Resolves with the next request. */
  asked(): Promise<void>;
  /** Hears of each request: that it came, that half of the answer is sent, that all of it is. */
  onStep: ((step: Step) => void) | undefined;
  /** How many requests came with each `Idempotency-Key`. */
  readonly counts: ReadonlyMap<string, number>;
  /** What images, speech and the like are answered with. */
  readonly media: MediaAnswers;
  close(): Promise<void>;
}

const MID_STREAM: ReadonlySet<FaultName> = new Set([
  'cut',
  'end-without-stop',
  'silent',
  'overloaded-mid-stream',
  'garbled',
]);

/** What stands before a provider answers the same for all. */
const GATEWAY: Partial<Record<FaultName, number>> = {
  '408': 408,
  '429': 429,
  'html-403': 403,
  'html-502': 502,
};

export async function startModelServer(dialect: Dialect): Promise<ModelServer> {
  const scripts = new Map<string, ScriptTurn[]>();
  const requests: ServedRequest[] = [];
  const prefixes = new Set<string>();
  const counts = new Map<string, number>();
  const media: MediaAnswers = {};
  let arrived = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const isJson = /json/.test(request.headers['content-type'] ?? '') && raw.length > 0;
    const path = new URL(request.url ?? '/', 'http://unused').pathname;
    const body = isJson ? JSON.parse(raw.toString('utf8')) : { raw: raw.toString('latin1') };
    requests.push({ path, body, headers: request.headers });
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
    const key = String(request.headers['idempotency-key'] ?? '');
    counts.set(key, (counts.get(key) ?? 0) + 1);
    served.onStep?.('asked');
    const model = dialect.modelOf({ path, body });
    if (model === undefined) return answerMedia(media, { path, body }, response);
    const turn = scripts.get(model)?.shift();
    if (!turn) return refuse(response, dialect.error('unknown-model', 0));
    const prefix = dialect.prefixOf?.({ path, body });
    const told = prefix === undefined ? turn : withPrefix(turn, prefixes.has(prefix));
    if (prefix !== undefined) prefixes.add(prefix);
    await answer(dialect, told, model, response, (step) => served.onStep?.(step));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const served: ModelServer = {
    onStep: undefined,
    baseUrl: `http://127.0.0.1:${port}${dialect.base}`,
    requests,
    asked: () => arrived.promise,
    counts,
    media,
    play: (model, script) => void scripts.set(model, [...script]),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return served;
}

/** A prefix is read once it was written; the sums are the same. */
function withPrefix(turn: ScriptTurn, isKept: boolean): ScriptTurn {
  const { inputTokens, outputTokens } = usageOf(turn);
  const kept = isKept ? { cacheReadTokens: inputTokens } : { cacheWriteTokens: inputTokens };
  return { ...turn, usage: { inputTokens, outputTokens, ...kept } };
}

function refuse(response: ServerResponse, answer: ReturnType<Dialect['error']>): void {
  const { status = 404, headers = {}, body = {} } = answer ?? {};
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function answer(
  dialect: Dialect,
  turn: ScriptTurn,
  model: string,
  response: ServerResponse,
  onStep: (step: Step) => void,
) {
  const { fault } = turn;
  const gateway = fault && GATEWAY[fault];
  if (gateway) {
    response.writeHead(gateway, { 'content-type': 'text/html' });
    return response.end(fault.startsWith('html') ? `<html><body><h1>${gateway}</h1></body></html>` : '');
  }
  const error = fault && dialect.error(fault, turn.retryAfterMs ?? RETRY_AFTER_MS);
  if (error) return refuse(response, error);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const frames = fault === 'empty' ? [] : dialect.frames(turn, model);
  const breaks = fault !== undefined && MID_STREAM.has(fault);
  const told = breaks ? frames.slice(0, Math.ceil(frames.length / 2)) : frames;
  for (const [at, frame] of told.entries()) {
    if (at === told.length >> 1) onStep('half');
    if (turn.delayMs) await sleep(turn.delayMs);
    await send(response, frame, fault);
  }
  if (fault === 'cut') return response.destroy();
  if (fault === 'silent') return;
  if (fault === 'garbled') return response.end('data: {"garbled": \n\n');
  response.end(fault === 'overloaded-mid-stream' ? dialect.errorFrame : undefined);
  onStep('answered');
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function send(response: ServerResponse, frame: string, fault: FaultName | undefined): Promise<void> {
  const bytes = Buffer.from(frame, 'utf8');
  const step = fault === 'split-utf8' ? 3 : fault === 'slow' ? 7 : bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    response.write(bytes.subarray(at, at + step));
    if (step < bytes.length) await turn();
  }
  await turn();
}
