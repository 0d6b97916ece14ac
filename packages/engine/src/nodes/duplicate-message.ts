/** What `core.identity` does in conformance workflows that ask for the same message twice. */
import type { Json } from '@gantry/protocol';
import { writeChannelFrom } from '../channels/write.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import type { Execute, Preparation } from './node-type.ts';

/** A message, then another one twice: the channel must hold two. */
export function emitDuplicateMessage({ definition, issue }: Preparation): Execute {
  const [channel] =
    Object.entries(definition.channels ?? {}).find(([, { reducer }]) => reducer === 'message') ?? [];
  if (channel === undefined) issue('emitDuplicateMessageId', 'The workflow has no channel of messages');
  return ({ inputs }) => ({
    kind: 'acts',
    act(step, node) {
      for (const number of [1, 2, 2]) {
        const refusal = writeChannelFrom(step, node, channel ?? '', messageOf(step, node, number));
        if (refusal) {
          failNode(step, node, refusal, false);
          return;
        }
      }
      completeNode(step, node, inputs);
    },
  });
}

const messageOf = (step: Step, node: PlanNode, number: number): Json => ({
  messageId: `${step.run.facts.runId}:${node.id}:${number}`,
  role: 'assistant',
  content: `Message ${number}`,
  timestamp: new Date(step.now).toISOString(),
});
