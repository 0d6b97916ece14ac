/** The MCP library, loaded with the first call: a host without remote packs pays nothing for it. */
export async function loadMcp() {
  const [{ Client }, { StreamableHTTPClientTransport, StreamableHTTPError }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { CallToolResultSchema, ErrorCode, ListToolsResultSchema, McpError } = types;
  return {
    Client,
    StreamableHTTPClientTransport,
    StreamableHTTPError,
    CallToolResultSchema,
    ErrorCode,
    ListToolsResultSchema,
    McpError,
  };
}

export type Mcp = Awaited<ReturnType<typeof loadMcp>>;
