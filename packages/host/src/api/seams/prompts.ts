/** Prompts outside of a run: resolution through the layers, and the events of a composition. */
import { type Candidate, quoted, resolvePrompt } from '@gantry/ai';
import type { Api } from '@gantry/http';
import { closedObject, type JsonObject, optional, Values } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { composePrompt } from '../../prompts/compose.ts';
import { candidate, composedEvent, PROMPT_SLOTS, refText } from '../../prompts/node-prompts.ts';
import type { PromptLibrary } from '../../prompts/prompt-library.ts';
import type { PromptRef } from '../../prompts/prompt-ref.ts';
import { seam } from './seam.ts';

const Kind = Type.Enum(['system', 'user', 'few-shot', 'schema-hint']);
const Resolve = Type.Object({
  kind: Kind,
  node: Type.Object({ nodeId: Type.String(), config: Values }),
  agentManifest: optional(Values),
  workflowDefaults: optional(Type.Object({ promptRefs: optional(Values) })),
  hostDefaults: optional(Values),
});
const Compose = Type.Object({
  templateId: Type.String(),
  bindings: Values,
  bindingTrust: optional(Type.Record(Type.String(), Type.Enum(['trusted', 'untrusted']))),
});
const Wrap = closedObject({
  contentTrust: optional(Type.Enum(['trusted', 'untrusted'])),
  eventType: Type.String(),
  source: optional(Type.String()),
  attributes: optional(Type.Record(Type.String(), Type.String())),
  payload: Type.Unknown(),
});

const NO_AGENTS = 'This host does not serve the prompts of agents.';

export function promptSeams(app: Api, library: PromptLibrary): void {
  seam(app, 'prompt/resolve', Resolve, async (_caller, body) => resolved(body));

  seam(app, 'prompt/compose', Compose, async ({ tenant }, body) => {
    const template = await library.find(tenant, { templateId: body.templateId });
    const isUntrusted = Object.values(body.bindingTrust ?? {}).includes('untrusted');
    const bindings = { ...body.bindings, ...markersOf(template, body.bindings) };
    const composition = composePrompt(template, bindings, isUntrusted ? 'untrusted' : 'trusted');
    return composedEvent('compose', template.kind, composition).payload;
  });

  seam(app, 'test/llm-prompt-wrap', Wrap, async (_caller, body) => {
    const { payload, eventType: type, contentTrust, source, attributes } = body;
    const about = { contentTrust, type, source, attributes };
    return { prompt: quoted(JSON.stringify(payload) ?? 'null', about) };
  });
}

/** The suite names a secret by `secretRef`; the prompt sees only its marker. */
function markersOf(
  { variables = [] }: { readonly variables?: readonly { readonly name: string; readonly source?: string }[] },
  { secretRef }: Readonly<Record<string, unknown>>,
): JsonObject {
  const secret = variables.filter(({ source }) => source === 'secret');
  return Object.fromEntries(secret.map(({ name }) => [name, `[REDACTED:${String(secretRef)}]`]));
}

function resolved({ kind, node, agentManifest, workflowDefaults, hostDefaults }: Static<typeof Resolve>) {
  const [, slot] = PROMPT_SLOTS.find(([each]) => each === kind) ?? [];
  const named = slot === undefined ? undefined : node.config[slot];
  const candidates: Candidate<PromptRef>[] = [
    candidate('node', Array.isArray(named) ? named[0] : named),
    ...(agentManifest ? [{ layer: 'agent-intrinsic', reason: NO_AGENTS } as const] : []),
    candidate('workflow-defaults', workflowDefaults?.promptRefs?.[kind]),
    candidate('host-defaults', hostDefaults?.[kind]),
  ];
  const { chain, resolved: ref } = resolvePrompt(candidates, refText);
  return { nodeId: node.nodeId, kind, chain, resolved: ref && refText(ref) };
}
