/**
 * `core.ai.callPrompt` and `core.ai.structuredOutput`: prompts are resolved and filled in, then a model is called.
 *
 * Named prompts take precedence over the config: `system`, then hints and examples, then the messages, with a
 * prompt of the kind `user` at their end.
 */
import { envelopeDirective, objectFaults, type Requirements } from '@gantry/ai';
import type { EmittedEvent, Execution, Outcome } from '@gantry/engine';
import { given, invalid, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { type NodePrompts, nodePrompts } from '../prompts/node-prompts.ts';
import type { PromptLibrary } from '../prompts/prompt-library.ts';
import type { Executor, NodeWork } from '../runtime/outside-work.ts';
import { type AskingNode, askingNode, type Chatted } from './ai.ts';
import { stopOf } from './call-budget.ts';
import { type ChatAsk, type ChatMessage, chatAnswer } from './chat.ts';
import { type EnvelopeAsk, type EnvelopeDeps, envelopeTurns } from './envelope-turns.ts';
import type { MockPrograms } from './mock-programs.ts';
import { type ModelGate, ModelInsufficient } from './model-gate.ts';
import { BudgetExhausted, type CallPlace } from './planned-call.ts';
import { nameOf, schemaFaults } from './structured.ts';

const SERIES = 'core.ai';

export interface CoreAiDeps extends EnvelopeDeps {
  readonly modelGate: ModelGate;
  readonly prompts: PromptLibrary;
  /** Of the seams. */
  readonly programs: MockPrograms | undefined;
}

interface Asking {
  readonly node: AskingNode;
  readonly place: CallPlace;
  readonly ask: ChatAsk;
  readonly first: readonly EmittedEvent[];
  readonly config: JsonObject;
  /** Answers of people to the model so far. */
  readonly answers: JsonObject;
}

export const coreAiExecutors = (deps: CoreAiDeps): Record<string, Executor> => ({
  'core.ai.callPrompt': executor(deps, 'callPrompt', (asking) => textOutput(deps, asking)),
  'local.sample.demo.mock-ai': executor(deps, 'mockAi', (asking) => textOutput(deps, played(asking))),
  'core.ai.structuredOutput': executor(deps, 'structuredOutput', (asking) => structuredOutput(deps, asking)),
  'conformance.modelCapability.insufficient': executor(deps, 'insufficient', async () => NEVER_DISPATCHED, {
    requiredModelCapabilities: ['nonexistent-capability-9b3f'],
  }),
});

const NEVER_DISPATCHED: Outcome = { ok: true, outputs: {} };

function executor(
  deps: CoreAiDeps,
  method: string,
  perform: (asking: Asking) => Promise<Outcome>,
  needs: Requirements = {},
): Executor {
  return async (_key, execution, signal, work) => {
    const { nodeId, config, inputs, ordinalBase, answers = {} } = execution;
    const asking = askingNode(work, nodeId, { signal, ordinalBase });
    const node = deps.programs?.for(asking, config) ?? asking;
    const place = { ordinal: ordinalBase, series: SERIES, method, fingerprint: '' };
    try {
      // First, since another model may need other prompts
      await deps.modelGate(node, needs, { ...config, ...inputs });
      const { prompts, events: first } = await promptsOf(deps, execution, work);
      return await perform({
        node,
        place,
        ask: withPrompts(askOf(config, inputs), prompts),
        first,
        config,
        answers,
      });
    } catch (error) {
      if (error instanceof BudgetExhausted) return { exhausted: stopOf(error) };
      if (!(error instanceof OpenwopError)) throw error;
      const { code, message, details, retriable: retryable } = error;
      const untold = error instanceof ModelInsufficient ? { untold: [error.event] } : {};
      return { ok: false, retryable, error: { code, message, ...(details && { details }) }, ...untold };
    }
  };
}

function promptsOf(
  { prompts, now }: CoreAiDeps,
  { nodeId, config, inputs, variables, promptRefs }: Execution,
  { facts }: NodeWork,
): Promise<NodePrompts> {
  const { runId, workflowId, owner } = facts;
  const at = new Date(now()).toISOString();
  return nodePrompts(prompts, {
    tenant: owner.tenant,
    nodeId,
    config,
    inputs,
    variables,
    context: {
      runId,
      workflowId,
      nodeId,
      tenantId: owner.tenant,
      now: at,
      ...(owner.principal !== undefined && { currentUserId: owner.principal }),
    },
    ...(promptRefs && { defaults: { promptRefs } }),
  });
}

function withPrompts(ask: ChatAsk, prompts: NodePrompts['prompts']): ChatAsk {
  if (prompts.length === 0) return ask;
  const texts = (isUser: boolean) =>
    prompts.filter(({ kind }) => (kind === 'user') === isUser).map(({ composed }) => composed);
  const [system, user] = [texts(false), texts(true)];
  return {
    ...ask,
    ...(system.length > 0 && { systemPrompt: system.join('\n\n') }),
    messages: [...ask.messages, ...user.map((content): ChatMessage => ({ role: 'user', content }))],
  };
}

const text = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const number = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Inputs override the config. */
function askOf(config: JsonObject, inputs: JsonObject): ChatAsk {
  const { provider, model, credentialRef, systemPrompt, temperature, maxTokens } = { ...config, ...inputs };
  return {
    provider: text(provider),
    model: text(model),
    credentialRef: text(credentialRef),
    systemPrompt: text(systemPrompt),
    messages: messagesOf(config, inputs),
    ...given({ temperature: number(temperature), maxTokens: number(maxTokens) }),
  };
}

const PROMPTS = ['userPrompt', 'prompt', 'userMessage', 'message', 'text', 'input'] as const;

/** The messages, or one text under one of the usual names, or the inputs as JSON. */
function messagesOf(config: JsonObject, inputs: JsonObject): readonly ChatMessage[] {
  const messages = inputs.messages ?? config.messages;
  if (Array.isArray(messages)) return messages.map(messageOf);
  for (const given of [inputs, config])
    for (const name of PROMPTS) {
      const content = text(given[name]);
      if (content !== undefined) return [{ role: 'user', content }];
    }
  return Object.keys(inputs).length > 0 ? [{ role: 'user', content: JSON.stringify(inputs) }] : [];
}

const ROLES: ReadonlySet<Json | undefined> = new Set(['system', 'user', 'assistant', 'tool']);

function messageOf(message: Json, at: number): ChatMessage {
  const { role, content = null } = (typeof message === 'object' ? (message ?? {}) : {}) as JsonObject;
  if (ROLES.has(role)) return { ...(message as JsonObject), role: role as ChatMessage['role'], content };
  throw invalid(`messages/${at}/role must be system, user, assistant or tool.`);
}

/** Adds a message if the workflow has none. */
const played = (asking: Asking): Asking => {
  const { ask } = asking;
  const messages: ChatAsk['messages'] =
    ask.messages.length > 0 ? ask.messages : [{ role: 'user', content: ask.systemPrompt ?? 'Hello' }];
  return { ...asking, ask: { ...ask, provider: 'scripted', messages } };
};

async function textOutput(deps: CoreAiDeps, asking: Asking): Promise<Outcome> {
  const { node, place, ask, first, config } = asking;
  const { ai } = deps;
  const envelopeType = text(config.envelopeType);
  if (envelopeType !== undefined) return envelopeOutput(deps, asking, envelopeType);
  const chatted = await ai.chat(node, { ...place, first }, ask);
  const { text: output, ...told } = outputsOf(chatted, false);
  return { ok: true, outputs: { output: output!, content: output!, ...told } };
}

const outputsOf = ({ answer, provider }: Chatted, structured: boolean): JsonObject => {
  const { text, usage, finishReason, model } = chatAnswer(answer, provider, structured);
  return { text: text ?? '', usage: usage!, finishReason: finishReason!, model: model! };
};

async function structuredOutput(deps: CoreAiDeps, asking: Asking): Promise<Outcome> {
  const { node, config } = asking;
  const schema = (config.responseSchema ?? config.outputSchema) as JsonObject;
  const envelopeType = nameOf(schema);
  return generatedOutput(deps, asking, {
    envelopeType,
    isReceived: false,
    faultsOf: schemaFaults(schema),
    sends: schema,
    onAsked: (maxTokens) => deps.programs?.asked(node, maxTokens),
  });
}

/** The answer is an envelope of that kind, which other nodes of the run may await. */
function envelopeOutput(deps: CoreAiDeps, asking: Asking, envelopeType: string): Promise<Outcome> {
  const asked = { envelopeType, isReceived: true, faultsOf: objectFaults };
  const { systemPrompt = '' } = asking.ask;
  const texts = [systemPrompt, envelopeDirective(asked)].filter((part) => part !== '');
  const ask = { ...asking.ask, systemPrompt: texts.join('\n\n') };
  return generatedOutput(deps, { ...asking, ask }, asked);
}

type OfNode = Pick<EnvelopeAsk, 'envelopeType' | 'isReceived' | 'faultsOf' | 'sends' | 'onAsked'>;

async function generatedOutput(deps: CoreAiDeps, asking: Asking, asked: OfNode): Promise<Outcome> {
  const { node, place, ask, first, answers } = asking;
  const generated = await envelopeTurns(deps, node, place, {
    ...asked,
    ask,
    first,
    trust: node.run.trust,
    answerOf: (key) => (Object.hasOwn(answers, key) ? answers[key] : undefined),
  });
  if (generated.kind === 'ask') return { suspend: generated.suspend, cause: generated.cause };
  if (generated.kind === 'failed') {
    const { error, untold, cause } = generated;
    return { ok: false, retryable: false, error, untold, ...(cause && { cause }) };
  }
  const { payload, envelopeType, envelopeId, rendering, chatted, untold } = generated;
  const { usage, model } = outputsOf(chatted, false);
  const isAnswer = envelopeType === asked.envelopeType;
  const outputs = {
    ...(isAnswer && { output: payload, data: payload }),
    ...(envelopeId !== undefined && { envelopeType, envelopeId, payload }),
    ...(rendering && { rendering }),
    usage: usage!,
    model: model!,
  };
  return { ok: true, outputs, untold };
}
