/** Calls of pack code to models, through the call gate. */
import { invalid, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { assertSameCall, type ModelsPort, type WriteCall } from '@gantry/surfaces';
import type { Ai, Asked, AskingNode } from './ai.ts';
import { stopOf } from './call-budget.ts';
import { type ChatAsk, chatAnswer } from './chat.ts';
import { type MediaDeps, mediaMethods } from './media-port.ts';
import { BudgetExhausted, type CallPlace } from './planned-call.ts';

const SERIES = 'aiProviders.own';

/** Places the call of pack code among those of its node; a repeat has to be the same call. */
async function placed<A>(
  call: WriteCall,
  ask: (node: AskingNode, place: CallPlace) => Promise<Asked<A>>,
): Promise<Asked<A>> {
  const { invocation } = call;
  const { ordinal, method, fingerprint } = invocation;
  const asked = await ask(nodeOf(call), { ordinal, series: SERIES, method, fingerprint }).catch((error) => {
    throw error instanceof BudgetExhausted ? stopped(call, error) : error;
  });
  if (asked.recorded.isRepeated) assertSameCall(invocation, asked.recorded);
  return asked;
}

export function createModelsPort(
  ai: Pick<Ai, 'ask' | 'chat' | 'media'> & Pick<MediaDeps, 'videoWaitMs'>,
): ModelsPort {
  const chat = async (ask: ChatAsk, call: WriteCall): Promise<JsonObject> => {
    const { answer, provider } = await placed(call, (node, place) => ai.chat(node, place, ask));
    return chatAnswer(answer, provider, ask.responseSchema !== undefined);
  };
  const ask: MediaDeps['ask'] = (call, which, plan, series = SERIES) =>
    placed(call, (node, place) => ai.ask(node, { ...place, series }, which, plan));
  return {
    ...mediaMethods({ ...ai, ask }),
    callAI: (input, call) => chat(input, call),
    callAIWithTools: ({ tools, toolChoice, ...input }, call) => {
      const asked = tools.map(({ parameters = { type: 'object' }, ...tool }) => ({ ...tool, parameters }));
      return chat({ ...input, tools: asked, toolChoice: choiceOf(toolChoice) }, call);
    },
  };
}

/** The code gets the error but cannot handle it: the run ends, or waits for a person. */
function stopped({ caller }: WriteCall, error: BudgetExhausted): OpenwopError {
  if (caller.kind === 'node') caller.work?.run?.exhausted(stopOf(error));
  return new OpenwopError('budget_exhausted');
}

/** The node of a call. Outside a run there is no account to charge. */
export function nodeOf({ owner, caller, signal }: WriteCall): AskingNode {
  if (caller.kind !== 'node' || !caller.work) throw outsideOfRuns();
  const { runId, nodeId, ordinalBase, work } = caller;
  const { epoch, tell, run } = work;
  if (!run) throw outsideOfRuns();
  const { rootRunId, workflowId, configurable } = run;
  const about = { rootRunId, workflowId, configurable, run };
  return { ...about, owner, runId, nodeId, ordinalBase, epoch, tell, signal };
}

/** `auto`, `none`, `required`, a name, or `{ name }` in one of several dialects. */
function choiceOf(choice: Json | undefined): ChatAsk['toolChoice'] {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (choice === 'any') return 'required';
  if (typeof choice === 'string') return { name: choice };
  const { name, type, function: nested } = choice as JsonObject;
  if (typeof name === 'string') return { name };
  if (typeof nested === 'object' && nested !== null) return choiceOf(nested);
  if (typeof type === 'string') return choiceOf(type);
  throw invalid('toolChoice must name one of the tools.');
}

const outsideOfRuns = (): OpenwopError =>
  new OpenwopError('host_capability_missing', { message: 'Models are asked by nodes of runs.' });
