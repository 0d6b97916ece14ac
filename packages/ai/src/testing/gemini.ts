import { callsOf, piecesOf, type ScriptTurn, usageOf } from '../scripted/script.ts';
import { type Dialect, sse } from './dialect.ts';

const PATH = /^\/v1beta\/models\/([^/:]+):streamGenerateContent$/;

const failed = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  status: code,
  body: { error: { code, message, status, details } },
});

/** Which pages were found, and which of them a sentence rests on. */
const grounding = (sources: ScriptTurn['sources']) =>
  sources && {
    groundingMetadata: {
      webSearchQueries: ['q'],
      groundingChunks: sources.map(({ url: uri, title }) => ({ web: { uri, title } })),
      groundingSupports: sources.flatMap(({ snippet: text }, index) =>
        text ? [{ segment: { startIndex: 0, endIndex: 1, text }, groundingChunkIndices: [index] }] : [],
      ),
    },
  };

export const gemini: Dialect = {
  name: 'google',
  base: '/v1beta',
  cannot: {
    'no-index': 'tool calls are parts of their own',
    'args-in-pieces': 'it sends tool calls whole',
    'args-broken': 'arguments are objects',
  },
  modelOf: ({ path }) => PATH.exec(path)?.[1],
  errorFrame: sse({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  frames(turn, model) {
    const { inputTokens, outputTokens, cacheReadTokens = 0 } = usageOf(turn);
    const usageMetadata = {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
      ...(cacheReadTokens > 0 && { cachedContentTokenCount: cacheReadTokens }),
    };
    const told = turn.fault !== 'no-usage';
    const chunk = (parts: readonly object[], finishReason?: string) =>
      sse({
        candidates: [
          {
            content: { role: 'model', parts },
            index: 0,
            ...(finishReason && { finishReason, ...grounding(turn.sources) }),
          },
        ],
        modelVersion: turn.model ?? model,
        responseId: 'r1',
        ...(finishReason && told && { usageMetadata }),
      });
    const finish = turn.fault === 'refusal' ? 'SAFETY' : turn.finish === 'length' ? 'MAX_TOKENS' : 'STOP';
    return [
      ...piecesOf(turn.reasoning).map((text) => chunk([{ text, thought: true }])),
      ...piecesOf(turn.text).map((text) => chunk([{ text }])),
      ...callsOf(turn).map(({ name, arguments: args }) =>
        chunk([{ functionCall: { name, args }, thoughtSignature: 'c2lnbmVk' }]),
      ),
      chunk([], finish),
    ];
  },
  error(fault, retryAfterMs) {
    switch (fault) {
      case '429-retry-after':
        return failed(429, 'RESOURCE_EXHAUSTED', 'Too many requests.', [
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterMs / 1_000}s` },
        ]);
      case 'overloaded':
        return failed(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');
      case '500':
        return failed(500, 'INTERNAL', 'An internal error has occurred.');
      case '401':
        return failed(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
        ]);
      case 'unknown-model':
        return failed(404, 'NOT_FOUND', 'models/none is not found for API version v1beta.');
      case 'too-long':
        return failed(
          400,
          'INVALID_ARGUMENT',
          'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
        );
      case '400':
        return failed(400, 'INVALID_ARGUMENT', 'Invalid value at generation_config.temperature.');
      case 'quota':
        return failed(
          429,
          'RESOURCE_EXHAUSTED',
          'You exceeded your current quota, please check your plan and billing details.',
        );
      default:
        return undefined;
    }
  },
};
