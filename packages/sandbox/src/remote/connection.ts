/** One session with the MCP server of a remote pack. What its transport sends leaves through egress. */
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

/** The MCP library, loaded with the first call: a host without remote packs pays nothing for it. */
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

/** The transport hands over no more than URL and init, so the call is found by where it was made. */
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

  /** Sampling, elicitation and roots are not offered: no capability is advertised, and requests for them are refused. */
  static async open(mcp: Mcp, url: URL, egress: RemoteEgress, tenant: string): Promise<Connection> {
    const client = new mcp.Client(CLIENT, { capabilities: {} });
    // What goes wrong reaches the caller whose request it was.
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
   * `request` rather than `callTool`: that one would compile schemas which the server brings. The time is kept here,
   * since the server may answer with the very code that the library has for it.
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
    // A server that does not get this lets the session expire.
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

/** For what belongs to no call: notifications, the end of a session. */
const ASIDE_MS = 10_000;

function mcpFetch(egress: RemoteEgress, tenant: string): FetchLike {
  return async (url, init = {}) => {
    // A stream that nothing asked for would stay open as long as the connection. To resume one is another matter.
    if (init.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const terms = isRequest(init.body) ? callTerms.getStore() : undefined;
    const { timeoutMs = ASIDE_MS, signal = init.signal, onBreak } = terms ?? {};
    const send = egressFetch(egress, { tenant, timeoutMs, onBreak });
    // The library would wait until the time is over for the rest of an answer that broke off.
    return send(url, { ...init, ...(signal && { signal }) });
  };
}

/** A call that is given up must still be able to say so: its notification is not bound to its signal. */
const isRequest = (body: RequestInit['body']): boolean => {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return typeof message === 'object' && message !== null && 'id' in message && 'method' in message;
};
