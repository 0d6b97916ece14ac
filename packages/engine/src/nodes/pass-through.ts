/** Types whose outputs are their inputs: they differ in what they mean to the reader of a workflow. */
import { emitDuplicateMessage } from './duplicate-message.ts';
import { completed, type NodeType, type Visit } from './node-type.ts';

const passInputs = () => (visit: Visit) => completed(visit.inputs);

export const end: NodeType = { typeId: 'core.end', prepare: passInputs };
export const identity: NodeType = {
  typeId: 'core.identity',
  prepare: (preparation) =>
    preparation.config.emitDuplicateMessageId === true ? emitDuplicateMessage(preparation) : passInputs(),
};
export const parallel: NodeType = { typeId: 'core.parallel', prepare: passInputs };
