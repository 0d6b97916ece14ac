import type { JsonObject } from '@gantry/protocol';
import { isConformance } from '../conformance-workflow.ts';
import { settleByKind } from '../interrupt/close.ts';
import {
  type ConversationRequest,
  endConversation,
  exchange,
  openConversation,
  TURNS_MAX,
} from '../interrupt/conversation.ts';
import { timeoutOf } from '../interrupt/data.ts';
import { asError } from '../interrupt/refusal.ts';
import { isObject } from '../json.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import type { NodeType, Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';

const LIFECYCLE = 'open-exchange-close';

/** Runs a conversation until it is closed. */
export const conversationGate: NodeType = {
  typeId: 'core.conversationGate',
  prepare(preparation) {
    const { config, issue } = preparation;
    if (config.lifecycle !== undefined && config.lifecycle !== LIFECYCLE)
      issue('lifecycle', `lifecycle can only be ${LIFECYCLE}`);
    const turns = mockedTurns(preparation);
    const request = requestOf(preparation);
    return {
      execute: () => ({
        kind: 'acts',
        act: (step, node) => {
          if (turns === undefined) openConversation(step, node, request);
          else playAlone(step, node, request, turns);
        },
      }),
      answered: (step, node, answer) => {
        if (isObject(answer.value)) completeNode(step, node, { ...answer.value, closedBy: answer.by });
        else settleByKind(step, node, answer);
      },
    };
  },
};

/** The number of turns that a conformance workflow simulates. */
function mockedTurns(preparation: Preparation): number | undefined {
  const { flag, whole } = settingsOf(preparation);
  if (!flag('mockAutoResume')) return;
  const message = 'Conversations can run without a person in conformance workflows only';
  if (!isConformance(preparation.definition))
    preparation.issue('mockAutoResume', message, 'conformance.mockAgent');
  return whole('turnCount', 1, 100) ?? 1;
}

function requestOf(preparation: Preparation): ConversationRequest {
  const { config, node, issue, schema } = preparation;
  const { prompt = config.initialPrompt ?? node.name, outcomeSchema } = config;
  if (typeof prompt !== 'string' || prompt === '') issue('prompt', 'prompt must be a text');
  if (outcomeSchema !== undefined && !isObject(outcomeSchema))
    issue('outcomeSchema', 'outcomeSchema must be a JSON Schema');
  const checked = isObject(outcomeSchema) && schema('outcomeSchema', outcomeSchema) ? { outcomeSchema } : {};
  const channel = channelOf(preparation);
  const agentId = node.agent?.agentId;
  return {
    prompt: String(prompt),
    turnsMax: settingsOf(preparation).whole('maxTurns', 1, TURNS_MAX) ?? TURNS_MAX,
    ...checked,
    ...timeoutOf(preparation, 'timeoutMs'),
    ...(channel !== undefined && { channel }),
    ...(typeof agentId === 'string' && { agentId }),
  };
}

/** Every turn is written to the channel in the config, else to the first channel that accepts messages. */
function channelOf({ config, definition, issue }: Preparation): string | undefined {
  const channels: JsonObject = definition.channels ? (definition.channels as JsonObject) : {};
  const takesMessages = (name: string) => isObject(channels[name]) && channels[name].reducer === 'message';
  const { channel } = config;
  if (channel === undefined) return Object.keys(channels).find(takesMessages);
  if (typeof channel === 'string' && Object.hasOwn(channels, channel) && takesMessages(channel))
    return channel;
  issue('channel', 'channel must name a channel with the reducer message');
  return;
}

function playAlone(step: Step, node: PlanNode, request: ConversationRequest, turns: number): void {
  if (!openConversation(step, node, request)) return;
  for (let turn = 1; turn <= turns; turn++) {
    const refusal = exchange(step, node, { content: `Turn ${turn}`, from: 'user' });
    if (!refusal) continue;
    failNode(step, node, asError(refusal), false);
    return;
  }
  const outcome = { turnCount: turns };
  endConversation(step, node, step.run.interrupts.get(node.id)!, { outcome, by: 'host:mock' });
}
