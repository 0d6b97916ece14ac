import { completed, type NodeType } from './node-type.ts';

const nothing = completed({});

export const noop: NodeType = { typeId: 'core.noop', outputs: [], prepare: () => () => nothing };
