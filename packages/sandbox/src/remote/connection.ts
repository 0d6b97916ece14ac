/** One session with the MCP server of a remote pack. Its transport sends requests through egress. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Egress, egressFetch, type FetchTerms } from '@gantry/egress';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';

const CONNECT_MS = 10_000;
const PAGES_MAX = 20;
const TOOLS_MAX = 1_000;
const CLIENT = { name: 'gantry', version: '1' };

/** The MCP library, loaded on the first call: a host without remote packs does not load it. */
export async function loadMcp() {
  const [client, transport, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return { ...client, ...transport, ...types };
}

export type Mcp = Awaited<ReturnType<typeof loadMcp>>;

export type RemoteEgress = Pick<Egress, 'stream'>;

interface CallTerms extends Pick<FetchTerms, 'onBreak'> {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The transport passes only URL and init to `fetch`, so the call is found through its async context. */
const callTerms = new AsyncLocalStorage<CallTerms>();

export interface ToolCall extends CallTerms {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  onProgress(progress: Progress): void;
}

export class TimeOver extends Error {}

export class Connection {
  readonly #mcp: Mcp;
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #tools: ReadonlySet<string>;

  /** Does not offer sampling, elicitation and roots: advertises no capability, and refuses such requests. */
  static async open(mcp: Mcp, url: URL, egress: RemoteEgress, tenant: string): Promise<Connection> {
    const client = new mcp.Client(CLIENT, { capabilities: {} });
    // Errors reach the caller of the request that failed.
    client.onerror = () => {};
    const transport = new mcp.StreamableHTTPClientTransport(url, { fetch: mcpFetch(egress, tenant) });
    try {
      return await callTerms.run({ timeoutMs: CONNECT_MS }, async () => {
        await client.connect(transport, { timeout: CONNECT_MS });
        return new Connection(mcp, client, transport, await toolNames(mcp, client));
      });
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  private constructor(
    mcp: Mcp,
    client: Client,
    transport: StreamableHTTPClientTransport,
    tools: ReadonlySet<string>,
  ) {
    this.#mcp = mcp;
    this.#client = client;
    this.#transport = transport;
    this.#tools = tools;
  }

  get hasSession(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** The tool of the same name as the node type, else one named like its last segment. */
  toolFor(typeId: string): string | undefined {
    const last = typeId.slice(typeId.lastIndexOf('.') + 1);
    return [typeId, last].find((name) => this.#tools.has(name));
  }

  /**
   * Uses `request` because `callTool` would compile schemas that the server provides. The timeout is measured
   * here, since the server may answer with the same code that the library uses for timeouts.
   */
  async call({ tool, arguments: given, timeoutMs, signal, onProgress }: ToolCall): Promise<CallToolResult> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const request = { method: 'tools/call', params: { name: tool, arguments: given } } as const;
    const options = { timeout: 2 * timeoutMs, onprogress: onProgress, signal: either };
    const broken = Promise.withResolvers<never>();
    const terms: CallTerms = { timeoutMs, signal: either, onBreak: broken.reject };
    try {
      const answer = callTerms.run(terms, () =>
        this.#client.request(request, this.#mcp.CallToolResultSchema, options),
      );
      return await Promise.race([answer, broken.promise]);
    } catch (error) {
      throw late.signal.aborted ? new TimeOver() : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    // A server that does not receive this lets the session expire.
    await this.#transport.terminateSession().catch(() => {});
    await this.#client.close();
  }
}

async function toolNames(mcp: Mcp, client: Client): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && names.size < TOOLS_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: 'tools/list', params } as const;
    const { tools, nextCursor } = await client.request(request, mcp.ListToolsResultSchema, {
      timeout: CONNECT_MS,
    });
    for (const { name } of tools.slice(0, TOOLS_MAX)) names.add(name);
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return names;
}

/** The timeout of requests outside a call: notifications, the end of a session. */
const ASIDE_MS = 10_000;

function mcpFetch(egress: RemoteEgress, tenant: string): FetchLike {
  return async (url, init = {}) => {
    // Refuse an unsolicited stream, which would stay open as long as the connection. Resuming one is allowed.
    if (init.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const terms = isRequest(init.body) ? callTerms.getStore() : undefined;
    const { timeoutMs = ASIDE_MS, signal = init.signal, onBreak } = terms ?? {};
    const send = egressFetch(egress, { tenant, timeoutMs, onBreak });
    // `onBreak` reports a broken answer; the library would wait for the rest of it until the timeout.
    return send(url, { ...init, ...(signal && { signal }) });
  };
}

/** A notification is not bound to the signal of its call, so that an aborted call can still send its cancellation. */
const isRequest = (body: RequestInit['body']): boolean => {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return typeof message === 'object' && message !== null && 'id' in message && 'method' in message;
};
