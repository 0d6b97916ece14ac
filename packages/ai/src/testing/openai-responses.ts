import { BROKEN_ARGUMENTS, callsOf, piecesOf, type ScriptTurn, textOf, usageOf } from '../scripted/script.ts';
import { argumentPieces, type Dialect, sse } from './dialect.ts';
import { openaiError } from './openai-error.ts';

export const openaiResponses: Dialect = {
  name: 'openai',
  base: '/v1',
  cannot: { 'no-index': 'every event names its output item' },
  modelOf: ({ path, body }) => (path === '/v1/responses' ? String(body.model) : undefined),
  prefixOf: ({ body: { prompt_cache_key: key, input } }) =>
    key === undefined || !Array.isArray(input)
      ? undefined
      : JSON.stringify(input.filter(({ role }) => role === 'system' || role === 'developer')),
  errorFrame: sse(
    {
      type: 'error',
      sequence_number: 9,
      error: { type: 'server_error', code: 'server_is_overloaded', message: 'Overloaded', param: null },
    },
    'error',
  ),
  error: openaiError,
  frames(turn, model) {
    const frames: string[] = [];
    const output: object[] = [];
    const tell = (type: string, more: object) =>
      frames.push(sse({ type, sequence_number: frames.length, ...more }, type));
    const response = (status: string, more: object = {}) => ({
      response: {
        id: 'resp_1',
        object: 'response',
        created_at: 1_700_000_000,
        status,
        model: turn.model ?? model,
        output,
        error: null,
        incomplete_details: null,
        ...more,
      },
    });
    const item = (
      begun: object,
      between: (at: { output_index: number; item_id: string }) => void,
      done: object,
    ) => {
      const output_index = output.length;
      const item_id = `item_${output_index}`;
      tell('response.output_item.added', { output_index, item: { id: item_id, ...begun } });
      between({ output_index, item_id });
      const ended = { id: item_id, ...done };
      tell('response.output_item.done', { output_index, item: ended });
      output.push(ended);
    };
    tell('response.created', response('in_progress'));
    tell('response.in_progress', response('in_progress'));
    if (turn.reasoning !== undefined) reasoning(turn.reasoning, item, tell);
    if (turn.sources !== undefined) search(turn.sources, item);
    if (turn.text !== undefined) message(turn, item, tell);
    for (const call of callsOf(turn)) {
      const text = call.broken === undefined ? JSON.stringify(call.arguments) : BROKEN_ARGUMENTS;
      const named = { type: 'function_call', call_id: call.id, name: call.name };
      item(
        { ...named, arguments: '', status: 'in_progress' },
        (at) => {
          for (const delta of argumentPieces(turn, text))
            tell('response.function_call_arguments.delta', { ...at, delta });
          tell('response.function_call_arguments.done', { ...at, arguments: text });
        },
        { ...named, arguments: text, status: 'completed' },
      );
    }
    const { inputTokens, outputTokens, cacheReadTokens = 0 } = usageOf(turn);
    const usage = turn.fault !== 'no-usage' && {
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: cacheReadTokens },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: inputTokens + outputTokens,
      },
    };
    if (turn.finish === 'length')
      tell(
        'response.incomplete',
        response('incomplete', { incomplete_details: { reason: 'max_output_tokens' }, ...usage }),
      );
    else tell('response.completed', response('completed', { ...usage }));
    return frames;
  },
};

type Tell = (type: string, more: object) => void;
type Item = (
  begun: object,
  between: (at: { output_index: number; item_id: string }) => void,
  done: object,
) => void;

function reasoning(text: string, item: Item, tell: Tell): void {
  const summary = { summary_index: 0 };
  item(
    { type: 'reasoning', summary: [], encrypted_content: '' },
    (at) => {
      tell('response.reasoning_summary_part.added', {
        ...at,
        ...summary,
        part: { type: 'summary_text', text: '' },
      });
      for (const delta of piecesOf(text))
        tell('response.reasoning_summary_text.delta', { ...at, ...summary, delta });
      tell('response.reasoning_summary_text.done', { ...at, ...summary, text });
      tell('response.reasoning_summary_part.done', {
        ...at,
        ...summary,
        part: { type: 'summary_text', text },
      });
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: 'ZW5jcnlwdGVk' },
  );
}

/** The call lists every page by its address alone; the text cites pages with their titles. */
function search(sources: ScriptTurn['sources'], item: Item): void {
  const action = {
    type: 'search',
    query: 'q',
    sources: sources?.map(({ url }) => ({ type: 'url', url })) ?? [],
  };
  const status = sources ? 'completed' : 'failed';
  item({ type: 'web_search_call', status: 'in_progress' }, () => {}, {
    type: 'web_search_call',
    status,
    action,
  });
}

const annotationOf = ({ url, title = url }: { readonly url: string; readonly title?: string }) => ({
  type: 'url_citation',
  start_index: 0,
  end_index: 1,
  url,
  title,
});

function message(turn: ScriptTurn, item: Item, tell: Tell): void {
  const isRefused = turn.fault === 'refusal';
  const text = textOf(turn);
  const annotations = (turn.sources ?? []).map(annotationOf);
  const part = isRefused
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations, logprobs: [] };
  const kind = isRefused ? 'response.refusal' : 'response.output_text';
  const empty = isRefused ? { ...part, refusal: '' } : { ...part, text: '' };
  const begun = { type: 'message', role: 'assistant' };
  item(
    { ...begun, status: 'in_progress', content: [] },
    (at) => {
      const where = { ...at, content_index: 0 };
      tell('response.content_part.added', { ...where, part: empty });
      for (const delta of piecesOf(turn.text)) tell(`${kind}.delta`, { ...where, delta, logprobs: [] });
      for (const [annotation_index, annotation] of annotations.entries())
        tell(`${kind}.annotation.added`, { ...where, annotation_index, annotation });
      tell(`${kind}.done`, { ...where, ...(isRefused ? { refusal: text } : { text, logprobs: [] }) });
      tell('response.content_part.done', { ...where, part });
    },
    { ...begun, status: 'completed', content: [part] },
  );
}
