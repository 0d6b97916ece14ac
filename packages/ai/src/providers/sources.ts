/** Extracts the web search results of a provider from the stream of its library. */
import type { LanguageModelV4Source, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { ModelFailure, type Source } from '../model.ts';

/** Undefined if the part is not about a search; an empty list means that there was one. */
export function sourcesIn(part: LanguageModelV4StreamPart): readonly Source[] | undefined {
  switch (part.type) {
    case 'source':
      return sourceOf(part);
    case 'text-end':
      return part.citations?.flatMap(({ source, citedText }) => sourceOf(source, citedText));
    case 'tool-result':
      // A model that exceeds its number of searches gets an error; earlier results are still valid
      if (part.isError && Object(part.result).errorCode !== 'max_uses_exceeded')
        throw new ModelFailure('broken', 'The search of the provider failed.');
      return [];
    case 'finish':
      return grounded(Object(Object(part.providerMetadata?.google).groundingMetadata));
    default:
      return undefined;
  }
}

const sourceOf = (source: LanguageModelV4Source, snippet?: string): Source[] =>
  source.sourceType === 'url'
    ? [{ url: source.url, ...(source.title && { title: source.title }), ...(snippet && { snippet }) }]
    : [];

interface Grounding {
  readonly webSearchQueries?: readonly string[] | null;
  readonly groundingChunks?: readonly { readonly web?: { readonly uri: string } | null }[] | null;
  readonly groundingSupports?:
    | readonly {
        readonly segment?: { readonly text?: string | null } | null;
        readonly groundingChunkIndices?: readonly number[] | null;
      }[]
    | null;
}

/** Gemini reports at the end which sentences of its answer are based on which page. */
function grounded({ webSearchQueries, groundingChunks, groundingSupports }: Grounding): Source[] | undefined {
  if (!webSearchQueries?.length) return undefined;
  return (groundingSupports ?? []).flatMap(({ segment, groundingChunkIndices }) =>
    (groundingChunkIndices ?? []).flatMap((index) => {
      const url = groundingChunks?.[index]?.web?.uri;
      return url && segment?.text ? [{ url, snippet: segment.text }] : [];
    }),
  );
}
