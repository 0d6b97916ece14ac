/** Ranks documents by relevance to a query, at `/rerank` as implemented by Cohere, Jina, vLLM and llama.cpp. */
import { given } from '@gantry/protocol';
import { ModelFailure, type ProviderFamily, type RerankAnswer } from '../model.ts';
import { reportedCount } from '../reported.ts';
import { asked, transportOf } from './transport.ts';

interface Wire {
  readonly results?: readonly { readonly index?: unknown; readonly relevance_score?: unknown }[];
  readonly usage?: { readonly total_tokens?: unknown };
}

/** The installed libraries have no model for it. */
export const rerank: NonNullable<ProviderFamily['rerank']> = async (request, reach) => {
  const { model, query, documents, topN } = request;
  const transport = transportOf(reach, { isQuick: true });
  const wire = await asked(reach, transport, async () => {
    const response = await transport.fetch(`${reach.baseUrl}/rerank`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, query, documents, top_n: topN }),
    });
    return (await response.json()) as Wire;
  });
  return read(wire, documents.length, topN);
};

function read(wire: Wire, documents: number, topN: number): RerankAnswer {
  const results = (Array.isArray(wire?.results) ? wire.results : [])
    .map((result) => ({ index: Number(result?.index), score: Number(result?.relevance_score) }))
    .sort((left, right) => right.score - left.score);
  const isOne = ({ index, score }: (typeof results)[number]): boolean =>
    Number.isInteger(index) && index >= 0 && index < documents && Number.isFinite(score);
  if (
    results.length === 0 ||
    !results.every(isOne) ||
    new Set(results.map(({ index }) => index)).size < results.length
  )
    throw new ModelFailure('broken', 'The provider sent another ranking than was asked for.');
  const inputTokens = reportedCount(wire?.usage?.total_tokens);
  return { results: results.slice(0, topN), ...given({ inputTokens }) };
}
