/** Models, as this host serves them to nodes. */
import type { ModelAnswer } from '@gantry/ai';
import { isObject, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import type { CallingRun, ModelsPort } from '@gantry/surfaces';
import { logicalInvocationId } from '../runtime/invocation-log.ts';
import type { NodeWork } from '../runtime/outside-work.ts';
import { callBudget, checkModel } from './call-budget.ts';
import { type ChatAsk, chatCall } from './chat.ts';
import { Ledger, type Limits } from './ledger.ts';
import { type MediaTerms, mediaRoom, withMedia } from './media-input.ts';
import type { MediaStore, StoredMedia } from './media-store.ts';
import { ModelCalls, type ModelCallsOptions } from './model-calls.ts';
import type { ChosenModel, ModelSource, WantedModel } from './model-source.ts';
import { createModelsPort } from './models-port.ts';
import type { CallingNode, CallPlace, PlannedCall, RecordedCall } from './planned-call.ts';

export interface AiOptions extends ModelCallsOptions {
  readonly source: ModelSource;
  /** Fetches media that messages refer to. */
  readonly egress: MediaTerms['egress'];
  readonly media: MediaStore;
  readonly videoWaitMs: number;
  /** Per workspace and day. */
  readonly projectLimits: Limits;
}

/** A working node, with the model options of its run. */
export interface AskingNode extends Omit<CallingNode, 'budget'> {
  readonly run: CallingRun;
  readonly configurable: JsonObject;
  /** Where the ordinals of this visit of the node begin. */
  readonly ordinalBase: number;
}

export interface Asked<A>
  extends Pick<RecordedCall, 'provider' | 'model' | 'usage' | 'spent' | 'durationMs'> {
  readonly answer: A;
  /** Made by the call. */
  readonly media: readonly StoredMedia[];
  /** `isRepeated`: the answer is from an earlier run of the node. */
  readonly recorded: Pick<RecordedCall, 'method' | 'fingerprint'> & { readonly isRepeated: boolean };
}
export type Chatted = Asked<ModelAnswer>;

/** The requested model; the options of the run fill in the rest. */
export type Which = Omit<WantedModel, 'prefers'>;

export interface Ai {
  readonly calls: ModelCalls;
  readonly ledger: Ledger;
  /** One recorded call. Throws `OpenwopError` on failure, `BudgetExhausted` when nothing is left. */
  ask<A>(node: AskingNode, place: CallPlace, which: Which, plan: Plan): Promise<Asked<A>>;
  /** One turn of a chat. */
  chat(node: AskingNode, place: CallPlace, ask: ChatAsk): Promise<Chatted>;
  /** For pack code. */
  readonly models: ModelsPort;
  readonly media: MediaStore;
}
export type Plan = (chosen: ChosenModel) => PlannedCall | Promise<PlannedCall>;

export function createAi({ source, egress, projectLimits, videoWaitMs, ...options }: AiOptions): Ai {
  const { media } = options;
  const calls = new ModelCalls(options);
  async function ask<A>(node: AskingNode, place: CallPlace, which: Which, plan: Plan): Promise<Asked<A>> {
    let isRepeated = true;
    const budget = callBudget(node.run, projectLimits);
    const call = await calls.perform({ ...node, budget }, place, async () => {
      isRepeated = false;
      const { owner, configurable } = node;
      const query = { owner, configurable, turn: place.ordinal - node.ordinalBase };
      const asked = await source.choose({ ...withRunOptions(which, configurable), ...query });
      const instead = which.task === 'chat' ? node.run.instead : undefined;
      const chosen = instead?.required.some((each) => !asked.capabilities.includes(each))
        ? await source.choose({ task: 'chat', ...instead, ...query })
        : asked;
      checkModel(node.run, projectLimits, chosen);
      return plan(chosen);
    });
    const { method, fingerprint, failure: _, aborted: _aborted, media: made = [], ...rest } = call;
    return {
      ...rest,
      answer: answerOf(call) as A,
      media: made,
      recorded: { method, fingerprint, isRepeated },
    };
  }
  const inRoom = mediaRoom();
  const chat: Ai['chat'] = (node, place, asked) => {
    const { provider, model, credentialRef } = asked;
    const { signal, owner } = node;
    const terms = { egress, media, tenant: owner.tenant, signal };
    const which = { task: 'chat', provider, model, credentialRef } as const;
    return inRoom(asked.messages, terms, () =>
      ask(node, place, which, async (chosen) => {
        const { modalities } = chosen;
        const messages = await withMedia(asked.messages, { ...terms, modalities });
        return chatCall({ ...sampling(node.configurable), ...asked, messages }, chosen, owner.tenant);
      }),
    );
  };
  const ledger = new Ledger(options.store);
  return { calls, ledger, ask, chat, models: createModelsPort({ ask, chat, media, videoWaitMs }), media };
}

/** Throws the recorded failure, or returns the answer. */
export function answerOf({ failure, answer }: RecordedCall): unknown {
  if (failure) throw new OpenwopError(failure.code, failure);
  return answer;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Options of the run are defaults: all of them for a chat, else the provider, if it supports the task. */
export function withRunOptions(which: Which, { ai, model }: JsonObject): WantedModel {
  const run: JsonObject = isObject(ai) ? ai : {};
  const [provider, credentialRef] = [text(run.provider), text(run.credentialRef)];
  if (which.task !== 'chat') {
    if (provider === undefined) return which;
    const ref = which.provider === provider ? credentialRef : undefined;
    return { ...which, credentialRef: which.credentialRef ?? ref, prefers: { provider, credentialRef } };
  }
  return {
    task: which.task,
    provider: which.provider ?? provider,
    model: which.model ?? text(run.model) ?? text(model),
    credentialRef: which.credentialRef ?? credentialRef,
  };
}

const sampling = ({ temperature, maxTokens }: JsonObject): Partial<ChatAsk> => ({
  ...(typeof temperature === 'number' && { temperature }),
  ...(typeof maxTokens === 'number' && { maxTokens }),
});

/** A numbered call of the node, for changes: it is made once, however often the node runs. */
export function nodeCaller(
  { owner, runId, nodeId, epoch, tell }: AskingNode,
  ordinal: number,
  providerKey: string,
): NodeCaller {
  const invocationId = logicalInvocationId({ tenant: owner.tenant, runId, nodeId, ordinal, providerKey });
  return { kind: 'node', ...owner, actor: runId, call: { invocationId, runId, nodeId }, epoch, tell };
}

/** The node of an executor. */
export const askingNode = (
  { facts, owner, run, epoch, tell }: NodeWork,
  nodeId: string,
  io: Pick<AskingNode, 'signal' | 'ordinalBase'>,
): AskingNode & Pick<NodeWork, 'run'> => {
  const { rootRunId, workflowId, configurable } = run;
  const about = { rootRunId, workflowId, configurable, run };
  return { ...about, owner, runId: facts.runId, nodeId, epoch, tell, ...io };
};
