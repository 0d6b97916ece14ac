/**
 * Nodes of remote packs: the host is an MCP client over streamable HTTP.
 *
 * A node type maps to the tool of the same name, else to the tool named like its last segment. Its arguments
 * are `inputs`, `config` and `context` (`runId`, `nodeId`, `attempt`); no credentials and no tenant data are
 * sent.
 */
import { given } from '@gantry/protocol';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { failed } from '../fault.ts';
import type { Data, InvocationLimits, InvocationOutcome, NodeContext, NodeResult } from '../invocation.ts';
import { nodeError } from '../result.ts';
import { Connection, loadMcp, type Mcp, type RemoteEgress } from './connection.ts';
import { Connections } from './connections.ts';
import { failureOf, type Phase, toolResult } from './tool-result.ts';

const PROGRESS_TEXT_MAX = 1_024;

export interface RemotePacksOptions {
  readonly egress: RemoteEgress;
  readonly connectionsMax: number;
  readonly idleMs: number;
  readonly now: () => number;
}

export interface RemoteInvocation {
  readonly pack: { readonly name: string; readonly version: string; readonly entry: string };
  /** No two tenants share a session. */
  readonly tenant: string;
  readonly typeId: string;
  readonly ctx: Pick<NodeContext, 'runId' | 'nodeId' | 'attempt' | 'inputs' | 'config'>;
  readonly limits: Pick<InvocationLimits, 'wallClockMs' | 'outputBytes'>;
  readonly signal?: AbortSignal;
  emit(event: Data): Promise<void> | void;
}

export class RemotePacks {
  readonly #options: RemotePacksOptions;
  readonly #connections: Connections;
  #mcp: Promise<Mcp> | undefined;

  constructor(options: RemotePacksOptions) {
    this.#options = options;
    this.#connections = new Connections(options);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Rejects only when its signal is aborted. Failures of the pack are results. */
  async invoke(invocation: RemoteInvocation): Promise<InvocationOutcome> {
    const { now } = this.#options;
    const startedAt = now();
    const { result, host } = await this.#attempt(invocation, 0);
    invocation.signal?.throwIfAborted();
    const used =
      host === undefined
        ? { primitives: [], surfaces: [] }
        : { primitives: ['net.outbound'], surfaces: [`mcp:${host}`] };
    return { result, variables: {}, used, durationMs: now() - startedAt };
  }

  async stop(): Promise<void> {
    await this.#connections.stop();
  }

  /** `host` is set once a call was sent there. */
  async #attempt(
    invocation: RemoteInvocation,
    tries: number,
  ): Promise<{ result: NodeResult; host?: string }> {
    this.#mcp ??= loadMcp();
    const mcp = await this.#mcp;
    const { pack, tenant, signal, limits } = invocation;
    const url = URL.parse(pack.entry);
    if (!url) return refused('url_invalid', 'The address of the remote pack is not valid.');
    const key = [pack.name, pack.version, pack.entry, tenant].join('\0');
    const open = (): Promise<Connection> => Connection.open(mcp, url, this.#options.egress, tenant);
    const lease = this.#connections.take(key, open);
    if (!lease)
      return refused('remote_busy', 'Too many calls of remote packs are running. Try again later.', true);
    let phase: Phase = 'connecting';
    try {
      const connection = await unlessAborted(lease.connection, signal);
      phase = 'calling';
      return { result: await call(connection, invocation), host: url.host };
    } catch (error) {
      signal?.throwIfAborted();
      const isExpired = phase === 'calling' && isSessionGone(mcp, error, await lease.connection);
      if (phase === 'connecting' || isExpired) lease.drop();
      // The server no longer knows the session, so it did nothing: MCP requires the client to start a new one.
      if (isExpired && tries === 0) return this.#attempt(invocation, 1);
      const reason = failureOf(mcp, error, phase, limits.wallClockMs);
      return { result: failed(reason, 'pack'), ...(phase === 'calling' && { host: url.host }) };
    } finally {
      lease.release();
    }
  }
}

function refused(code: string, message: string, retryable = false): { result: NodeResult } {
  return { result: failed({ ...nodeError(code, message), retryable }, 'pack') };
}

async function call(connection: Connection, invocation: RemoteInvocation): Promise<NodeResult> {
  const { typeId, ctx, limits, signal } = invocation;
  const tool = connection.toolFor(typeId);
  if (tool === undefined)
    return failed(nodeError('unknown_type_id', `The server offers no tool ${typeId}.`), 'pack');
  const { inputs, config, runId, nodeId, attempt } = ctx;
  const answer = await connection.call({
    tool,
    arguments: { inputs, config, context: { runId, nodeId, attempt } },
    timeoutMs: limits.wallClockMs,
    signal,
    onProgress: (progress) => void reportProgress(invocation, progress),
  });
  return toolResult(answer, limits.outputBytes);
}

async function reportProgress(
  { emit }: RemoteInvocation,
  { progress, total, message }: Progress,
): Promise<void> {
  const data = given({ progress, total, message: message?.slice(0, PROGRESS_TEXT_MAX) });
  await emit({ type: 'node.progress', data });
}

const isSessionGone = (mcp: Mcp, error: unknown, { hasSession }: Connection): boolean =>
  error instanceof mcp.StreamableHTTPError && error.code === 404 && hasSession;

/** The connection is shared, and stays open when one caller aborts. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
