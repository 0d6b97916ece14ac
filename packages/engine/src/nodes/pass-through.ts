/** Types whose outputs are their inputs. They differ only in their meaning for readers of a workflow. */
import type { Json } from '@gantry/protocol';
import { writeChannelFrom } from '../channels/write.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { completed, type Execute, type NodeType, type Preparation, type Visit } from './node-type.ts';

const passInputs = () => (visit: Visit) => completed(visit.inputs);

export const end: NodeType = { typeId: 'core.end', outputs: 'inputs', prepare: passInputs };
export const identity: NodeType = {
  typeId: 'core.identity',
  outputs: 'inputs',
  prepare: (preparation) =>
    preparation.config.emitDuplicateMessageId === true ? emitDuplicateMessage(preparation) : passInputs(),
};
export const parallel: NodeType = { typeId: 'core.parallel', outputs: 'inputs', prepare: passInputs };

/** In conformance workflows: writes a message, then another one twice. The channel must contain two. */
function emitDuplicateMessage({ definition, issue }: Preparation): Execute {
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
