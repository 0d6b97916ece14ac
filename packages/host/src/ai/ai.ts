/** Models, as this host serves them to nodes. */
import type { ModelAnswer } from '@gantry/ai';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { CallingRun, ModelsPort } from '@gantry/surfaces';
import type { NodeWork } from '../runtime/outside-work.ts';
import { callBudget, checkModel } from './call-budget.ts';
import { type ChatAsk, chatCall } from './chat.ts';
import { Ledger, type Limits } from './ledger.ts';
import { type MediaTerms, withMedia } from './media-input.ts';
import { ModelCalls, type ModelCallsOptions } from './model-calls.ts';
import type { ModelSource } from './model-source.ts';
import { createModelsPort } from './models-port.ts';
import type { CallingNode, CallPlace, RecordedCall } from './planned-call.ts';

export interface AiOptions extends ModelCallsOptions {
  readonly source: ModelSource;
  /** By which media that messages name are fetched. */
  readonly media: MediaTerms['egress'];
  /** Of a workspace and a day. */
  readonly projectLimits: Limits;
}

/** A node at work, with what its run says about models. */
export interface AskingNode extends Omit<CallingNode, 'budget'> {
  readonly run: CallingRun;
  readonly configurable: JsonObject;
  /** Where the ordinals of this visit of the node begin. */
  readonly ordinalBase: number;
}

export interface Chatted {
  readonly answer: ModelAnswer;
  readonly provider: string;
  /** `isRepeated`: the answer is of an earlier run of the node. */
  readonly recorded: Pick<RecordedCall, 'method' | 'fingerprint'> & { readonly isRepeated: boolean };
}

export interface Ai {
  readonly calls: ModelCalls;
  readonly ledger: Ledger;
  /** One turn, recorded. Throws `OpenwopError` for what failed, `BudgetExhausted` when nothing is left. */
  chat(node: AskingNode, place: CallPlace, ask: ChatAsk): Promise<Chatted>;
  /** For pack code. */
  readonly models: ModelsPort;
}

export function createAi({ source, media, projectLimits, ...options }: AiOptions): Ai {
  const calls = new ModelCalls(options);
  const chat: Ai['chat'] = async (node, place, ask) => {
    let isRepeated = true;
    const budget = callBudget(node.run, projectLimits);
    const recorded = await calls.perform({ ...node, budget }, place, async () => {
      isRepeated = false;
      const { provider, model, credentialRef } = withRunOptions(ask, node.configurable);
      const turn = place.ordinal - node.ordinalBase;
      const { owner, configurable } = node;
      const chosen = await source.choose({ owner, configurable, provider, model, credentialRef, turn });
      checkModel(node.run, projectLimits, chosen);
      const { modalities } = chosen;
      const { tenant } = owner;
      const terms = { egress: media, tenant, modalities, signal: node.signal };
      const messages = await withMedia(ask.messages, terms);
      return chatCall({ ...sampling(node.configurable), ...ask, messages }, chosen);
    });
    const { provider, method, fingerprint } = recorded;
    const answer = answerOf(recorded) as ModelAnswer;
    return { answer, provider, recorded: { method, fingerprint, isRepeated } };
  };
  return { calls, ledger: new Ledger(options.store), chat, models: createModelsPort({ chat }) };
}

/** The failure that is on record, or the answer. */
export function answerOf({ failure, answer }: RecordedCall): unknown {
  if (failure) throw new OpenwopError(failure.code, failure);
  return answer;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What a call leaves open the run decides. */
function withRunOptions(ask: ChatAsk, { ai, model }: JsonObject) {
  const chosen = (typeof ai === 'object' && ai !== null ? ai : {}) as JsonObject;
  return {
    provider: ask.provider ?? text(chosen.provider),
    model: ask.model ?? text(chosen.model) ?? text(model),
    credentialRef: ask.credentialRef ?? text(chosen.credentialRef),
  };
}

const sampling = ({ temperature, maxTokens }: JsonObject): Partial<ChatAsk> => ({
  ...(typeof temperature === 'number' && { temperature }),
  ...(typeof maxTokens === 'number' && { maxTokens }),
});

/** The node of an executor. */
export const askingNode = (
  { facts, run, epoch, tell }: NodeWork,
  nodeId: string,
  io: Pick<AskingNode, 'signal' | 'ordinalBase'>,
): AskingNode => {
  const { rootRunId, workflowId, configurable } = run;
  const about = { rootRunId, workflowId, configurable, run };
  return { ...about, owner: facts.owner, runId: facts.runId, nodeId, epoch, tell, ...io };
};
