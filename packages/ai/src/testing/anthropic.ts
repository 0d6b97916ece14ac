import { BROKEN_ARGUMENTS, callsOf, piecesOf, type ScriptTurn, usageOf } from '../scripted/script.ts';
import { argumentPieces, type Dialect, sse } from './dialect.ts';

const failed = (status: number, type: string, message: string, headers = {}) => ({
  status,
  headers,
  body: { type: 'error', error: { type, message }, request_id: 'req_1' },
});

type Sources = NonNullable<ScriptTurn['sources']>;

const found = (sources: Sources | null): unknown =>
  sources?.map(({ url, title }) => ({
    type: 'web_search_result',
    url,
    title: title ?? null,
    encrypted_content: 'ZW5j',
    page_age: null,
  })) ?? { type: 'web_search_tool_result_error', error_code: 'unavailable' };

const citation = ({ url, title, snippet }: Sources[number]) => ({
  type: 'citations_delta',
  citation: {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: snippet,
    encrypted_index: 'aW5k',
  },
});

const STOPS = { stop: 'end_turn', length: 'max_tokens' } as const;

export const anthropicMessages: Dialect = {
  name: 'anthropic',
  base: '/v1',
  cannot: { 'no-index': 'every event of a block names its index' },
  modelOf: ({ path, body }) => (path === '/v1/messages' ? String(body.model) : undefined),
  /** Tools and system messages up to the last mark. */
  prefixOf: ({ body: { tools = [], system } }) => {
    const blocks = Array.isArray(system) ? system : [];
    const last = blocks.findLastIndex(({ cache_control }) => cache_control);
    return last < 0 ? undefined : JSON.stringify([tools, blocks.slice(0, last + 1)]);
  },
  errorFrame: sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
  frames(turn, model) {
    const frames: string[] = [];
    const tell = (type: string, more: object) => frames.push(sse({ type, ...more }, type));
    const block = (content: object, deltas: readonly object[]) => {
      const index = blocks++;
      tell('content_block_start', { index, content_block: content });
      for (const delta of deltas) tell('content_block_delta', { index, delta });
      tell('content_block_stop', { index });
    };
    let blocks = 0;
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usageOf(turn);
    const told = turn.fault !== 'no-usage';
    tell('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: turn.model ?? model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: told ? inputTokens - cacheReadTokens - cacheWriteTokens : 0,
          cache_read_input_tokens: cacheReadTokens,
          cache_creation_input_tokens: cacheWriteTokens,
          output_tokens: 0,
        },
      },
    });
    tell('ping', {});
    if (turn.reasoning !== undefined)
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...piecesOf(turn.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2lnbmVk' },
      ]);
    if (turn.sources !== undefined) {
      const tool_use_id = 'srvtoolu_1';
      block({ type: 'server_tool_use', id: tool_use_id, name: 'web_search', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"query":"q"}' },
      ]);
      block({ type: 'web_search_tool_result', tool_use_id, content: found(turn.sources) }, []);
    }
    if (turn.text !== undefined)
      block({ type: 'text', text: '' }, [
        ...piecesOf(turn.text).map((text) => ({ type: 'text_delta', text })),
        ...(turn.sources ?? []).filter(({ snippet }) => snippet).map(citation),
      ]);
    for (const call of callsOf(turn)) {
      const text = call.broken === undefined ? JSON.stringify(call.arguments) : BROKEN_ARGUMENTS;
      block(
        { type: 'tool_use', id: call.id, name: call.name, input: {} },
        argumentPieces(turn, text).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      );
    }
    const isCall = turn.toolCalls?.length && turn.finish === undefined;
    const stop = turn.fault === 'refusal' ? 'refusal' : isCall ? 'tool_use' : STOPS[turn.finish ?? 'stop'];
    tell('message_delta', {
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: told ? outputTokens : 0 },
    });
    tell('message_stop', {});
    return frames;
  },
  error(fault, retryAfterMs) {
    switch (fault) {
      case '429-retry-after':
        return failed(429, 'rate_limit_error', 'This would exceed your rate limit.', {
          'retry-after': String(retryAfterMs / 1_000),
        });
      case 'overloaded':
        return failed(529, 'overloaded_error', 'Overloaded');
      case '500':
        return failed(500, 'api_error', 'Internal server error');
      case '401':
        return failed(401, 'authentication_error', 'invalid x-api-key');
      case 'unknown-model':
        return failed(404, 'not_found_error', 'model: claude-none');
      case 'too-long':
        return failed(400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum');
      case '400':
        return failed(400, 'invalid_request_error', 'temperature: Input should be less than or equal to 1');
      case 'quota':
        return failed(
          400,
          'invalid_request_error',
          'Your credit balance is too low to access the Claude API.',
        );
      default:
        return undefined;
    }
  },
};
