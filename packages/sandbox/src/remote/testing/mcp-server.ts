/** A real MCP server over streamable HTTP, for tests. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';

export interface ToolRequest {
  readonly arguments: Record<string, unknown>;
  readonly server: Server;
  readonly extra: RequestHandlerExtra<ServerRequest, ServerNotification>;
}

export type Tools = Readonly<
  Record<string, (request: ToolRequest) => Promise<CallToolResult> | CallToolResult>
>;

export interface McpServerOptions {
  readonly tools: Tools;
  /** Looks at a request before the server does; true when it has answered. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Plain JSON instead of event streams. */
  readonly json?: boolean;
}

export interface TestMcpServer {
  readonly url: string;
  /** Headers of every request so far. */
  readonly heard: readonly IncomingMessage['headers'][];
  readonly sessions: { opened: number; closed: number };
  /** As a restart would. */
  forgetSessions(): void;
}

interface After {
  after(hook: () => void): void;
}

function serverWith(tools: Tools): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  const listed = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' as const } }));
  server.setRequestHandler(ListToolsRequestSchema, (request) => {
    const [first, ...rest] = listed;
    // Two pages, so that clients have to follow the cursor.
    if (request.params?.cursor !== undefined) return { tools: rest };
    return { tools: first ? [first] : [], nextCursor: 'rest' };
  });
  server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
    const tool = tools[request.params.name];
    if (!tool) throw new Error(`no tool ${request.params.name}`);
    return tool({ arguments: request.params.arguments ?? {}, server, extra });
  });
  return server;
}

class Sessions {
  readonly counts = { opened: 0, closed: 0 };
  readonly #open = new Map<string, StreamableHTTPServerTransport>();
  readonly #options: McpServerOptions;

  constructor(options: McpServerOptions) {
    this.#options = options;
  }

  forget(): void {
    this.#open.clear();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return (await this.#begin()).handleRequest(request, response);
    const transport = this.#open.get(String(id));
    if (transport) return transport.handleRequest(request, response);
    response.writeHead(404).end();
  }

  async #begin(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: this.#options.json === true,
      onsessioninitialized: (id) => {
        this.counts.opened++;
        this.#open.set(id, transport);
      },
      onsessionclosed: (id) => {
        this.counts.closed++;
        this.#open.delete(id);
      },
    });
    const server: { connect(transport: unknown): Promise<void> } = serverWith(this.#options.tools);
    await server.connect(transport);
    return transport;
  }
}

export async function mcpServer(t: After, options: McpServerOptions): Promise<TestMcpServer> {
  const sessions = new Sessions(options);
  const heard: IncomingMessage['headers'][] = [];
  const http: HttpServer = createServer((request, response) => {
    heard.push(request.headers);
    if (options.intercept?.(request, response)) return;
    sessions.serve(request, response).catch(() => response.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  return { url, heard, sessions: sessions.counts, forgetSessions: () => sessions.forget() };
}
