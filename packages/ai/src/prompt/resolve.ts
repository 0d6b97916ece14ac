/** Selects the prompt of a node: the first layer that names one. Records the result of every layer. */

export const PROMPT_LAYERS = [
  'run-configurable',
  'node',
  'agent-intrinsic',
  'agent-overrides',
  'agent-library-default',
  'workflow-defaults',
  'host-defaults',
] as const;
export type PromptLayer = (typeof PROMPT_LAYERS)[number];

/** `source` is absent if the layer names no prompt; `reason` then says why. */
export interface Candidate<Ref> {
  readonly layer: PromptLayer;
  readonly ref?: Ref;
  readonly reason?: string;
}

export interface ChainEntry {
  readonly layer: PromptLayer;
  readonly source?: string;
  readonly applied: boolean;
  readonly reason?: string;
}

export interface Resolution<Ref> {
  readonly chain: readonly ChainEntry[];
  readonly resolved: Ref | null;
  readonly layer: PromptLayer | null;
}

/** Candidates are in order of precedence. */
export function resolvePrompt<Ref>(
  candidates: readonly Candidate<Ref>[],
  textOf: (ref: Ref) => string,
): Resolution<Ref> {
  const winner = candidates.find(({ ref }) => ref !== undefined);
  const chain = candidates.map((candidate): ChainEntry => {
    const { layer, ref, reason } = candidate;
    if (ref === undefined)
      return { layer, applied: false, reason: reason ?? 'No prompt is named at this layer.' };
    if (candidate === winner) return { layer, source: textOf(ref), applied: true };
    return { layer, source: textOf(ref), applied: false, reason: `The layer ${winner?.layer} goes first.` };
  });
  return { chain, resolved: winner?.ref ?? null, layer: winner?.layer ?? null };
}
