/** Subscriptions to queues as callers and workflow definitions ask for them. Pure. */
import {
  given,
  invalid,
  lazyValidator,
  type OpenwopError,
  QueueTriggerConfig,
  type TriggerSubscriptionRegistration,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { queueGroupProblem } from '@gantry/surfaces';
import { configProblem } from '../definition-sync.ts';
import { retryPolicyOf } from '../retry.ts';
import type { Origin, WantedQueue } from '../trigger.ts';

/** The node type that packs bring for it: it puts out the message that started the run. */
const CONSUME = 'core.messaging.consume';

const config = lazyValidator(QueueTriggerConfig);

/** Why no queue can have such a topic or group; null when it can. */
const groupProblem = (topic: string, consumerGroup = ''): string | null =>
  queueGroupProblem({ topic, group: consumerGroup });

type Trigger = WorkflowDefinition['triggers'][number];
type Nodes = WorkflowDefinition['nodes'];

/** Throws `validation_error`. */
export function queueRegistration(
  { workflowId, topic, consumerGroup, ...body }: TriggerSubscriptionRegistration,
  origin: Origin,
): WantedQueue {
  if (topic === undefined) throw refused('topic', 'is missing: name the topic to listen to');
  const problem = groupProblem(topic, consumerGroup);
  if (problem !== null) throw refused('topic', `cannot be used: ${problem}`);
  if (body.verification !== undefined)
    throw refused('verification', 'is not for queues: their messages come from this host');
  if (body.dedupEnabled === false)
    throw refused('dedupEnabled', 'is always true for queues: a message starts one run');
  const { retryPolicy, inputMapping } = body;
  return wantedOf(workflowId, { topic, ...given({ consumerGroup, retryPolicy, inputMapping }) }, origin);
}

/** An `event` trigger that names the consume node, by its type or as one of the workflow's nodes. */
export const isQueueTrigger = ({ type, eventType, nodeId }: Trigger, nodes: Nodes): boolean =>
  type === 'event' && (eventType === CONSUME || consumeNode(nodes, nodeId) !== undefined);

/** What is wrong with the configuration; null when a topic can be listened to with it. */
export function queueTriggerProblem(trigger: Trigger, nodes: Nodes): string | null {
  const asked = configOf(trigger, nodes);
  return config.Check(asked) ? groupProblem(asked.topic, asked.consumerGroup) : configProblem(config, asked);
}

/** Null when it has a problem. */
export function queueTrigger(workflowId: string, trigger: Trigger, nodes: Nodes): WantedQueue | null {
  const asked = configOf(trigger, nodes);
  if (!config.Check(asked) || queueTriggerProblem(trigger, nodes) !== null) return null;
  return wantedOf(workflowId, asked, { kind: 'trigger', triggerId: trigger.id });
}

/** The node says where its messages come from; the trigger may say it instead, and what else is asked for. */
function configOf({ config: own = {}, nodeId }: Trigger, nodes: Nodes): Record<string, unknown> {
  const { topic, consumerGroup } = consumeNode(nodes, nodeId)?.config ?? {};
  return { ...given({ topic, consumerGroup }), ...own };
}

const consumeNode = (nodes: Nodes, nodeId: string | undefined): Nodes[number] | undefined =>
  nodes.find(({ id, typeId }) => id === nodeId && typeId === CONSUME);

const wantedOf = (workflowId: string, asked: QueueTriggerConfig, origin: Origin): WantedQueue => ({
  source: 'queue',
  workflowId,
  topic: asked.topic,
  consumerGroup: asked.consumerGroup ?? null,
  dedupEnabled: true,
  verification: 'none',
  inputMapping: asked.inputMapping ?? {},
  origin,
  retryPolicy: retryPolicyOf(asked.retryPolicy),
});

const refused = (field: string, problem: string): OpenwopError =>
  invalid(`body/${field} ${problem}.`, { fields: [{ field: `body/${field}`, problem }] });
