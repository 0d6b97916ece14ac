import { BROKEN_ARGUMENTS, callsOf, piecesOf, type ScriptTurn, usageOf } from '../scripted/script.ts';
import { argumentPieces, type Dialect, type ErrorAnswer, sse } from './dialect.ts';
import { openaiError } from './openai-error.ts';

const DONE = 'data: [DONE]\n\n';

function finishReason(turn: ScriptTurn): string {
  if (turn.finish === 'length') return 'length';
  return turn.toolCalls?.length ? 'tool_calls' : 'stop';
}

function frames(turn: ScriptTurn, model: string): readonly string[] {
  const all: string[] = [];
  const chunk = (more: object) =>
    all.push(
      sse({ id: 'c_1', object: 'chat.completion.chunk', created: 1, model: turn.model ?? model, ...more }),
    );
  const tell = (delta: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason }] });
  tell({ role: 'assistant', content: '' });
  for (const reasoning_content of piecesOf(turn.reasoning)) tell({ reasoning_content });
  const field = turn.fault === 'refusal' ? 'refusal' : 'content';
  for (const text of piecesOf(turn.text)) tell({ [field]: text });
  callsOf(turn).forEach((call, at) => {
    const text = call.broken === undefined ? JSON.stringify(call.arguments) : BROKEN_ARGUMENTS;
    const index = turn.fault === 'no-index' ? {} : { index: at };
    const [first = '', ...rest] = argumentPieces(turn, text);
    const named = { id: call.id, type: 'function', function: { name: call.name, arguments: first } };
    tell({ tool_calls: [{ ...index, ...named }] });
    for (const piece of rest) tell({ tool_calls: [{ ...index, function: { arguments: piece } }] });
  });
  tell({}, finishReason(turn));
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = usageOf(turn);
  if (turn.fault !== 'no-usage')
    chunk({
      choices: [],
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        prompt_tokens_details: { cached_tokens: cacheReadTokens },
      },
    });
  return [...all, DONE];
}

export const openaiChat: Dialect = {
  name: 'openai-compatible',
  base: '/v1',
  cannot: {},
  modelOf: ({ path, body }) => (path === '/v1/chat/completions' ? String(body.model) : undefined),
  errorFrame: sse({ error: { message: 'Overloaded', type: 'server_error', code: 503 } }),
  error: openaiError,
  frames,
};

/** Ollama speaks chat completions its own way: other errors, whole tool calls, the reasoning under another name. */
export const ollama: Dialect = {
  ...openaiChat,
  name: 'ollama',
  cannot: {
    '401': 'it has no keys',
    'args-in-pieces': 'it sends tool calls whole',
    'no-index': 'every tool call has an index',
    refusal: 'it has no field for refusals',
    quota: 'it has no accounts',
  },
  error(fault, retryAfterMs): ErrorAnswer | undefined {
    const of = (status: number, message: string, headers = {}): ErrorAnswer => ({
      status,
      headers,
      body: { error: { message, type: 'api_error', param: null, code: null } },
    });
    switch (fault) {
      case '429-retry-after':
        return of(429, 'too many requests', { 'retry-after': String(retryAfterMs / 1_000) });
      case 'overloaded':
        return of(503, 'server busy, please try again. maximum pending requests exceeded');
      case '500':
        return of(500, 'llama runner process has terminated');
      case 'unknown-model':
        return of(404, 'model "none" not found, try pulling it first');
      case 'too-long':
        return of(400, 'input exceeds the available context size');
      case '400':
        return of(400, 'invalid message content type');
      default:
        return undefined;
    }
  },
  frames: (turn, model) =>
    frames(turn, model).map((frame) => frame.replace('"reasoning_content"', '"reasoning"')),
};
