import { EdgeCondition, invalid, lazyValidator, TriggerRule } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { boundsIssue } from '../json.ts';
import { Data, Label as Id, strict, TypeId, text, Version } from '../manifest/fields.ts';
import { Capability } from '../manifest/node.ts';

/** Open: additions of a newer protocol to an inverse action are kept. */
const NodeCompensation = Type.Object({ nodeTypeId: TypeId, inputMapping: Type.Optional(Data) });

export const FragmentNode = strict({
  id: Id,
  typeId: TypeId,
  'name?': text(256),
  'position?': strict({ 'x?': Type.Number(), 'y?': Type.Number() }),
  'config?': Data,
  'inputs?': Data,
  'compensation?': NodeCompensation,
  'irreversibleEffect?': Type.Boolean(),
});
export type FragmentNode = Static<typeof FragmentNode>;

/** `from` and `to` are `node` or `node.port`. Older manifests write a condition as a bare expression. */
export const FragmentEdge = strict({
  from: text(512, 1),
  to: text(512, 1),
  'condition?': Type.Union([EdgeCondition, Type.String({ minLength: 1 })]),
  'triggerRule?': TriggerRule,
});
export type FragmentEdge = Static<typeof FragmentEdge>;

/** A sibling by its `chainId`, or a chain of another pack. */
export const SubChainRef = Type.Union([Id, strict({ packName: Id, chainId: TypeId, version: text(128, 1) })]);
export type SubChainRef = Static<typeof SubChainRef>;

const ProducedVariable = strict({
  name: Id,
  producedBy: Id,
  type: Type.Enum(['string', 'number', 'integer', 'boolean', 'object', 'array']),
  'description?': text(1024),
});

export type ChainCapability = Static<typeof Capability>;

const ChainOutput = strict({ type: Type.String(), description: Type.String() });

/** A fragment of a workflow with a schema of its parameters, to be expanded into definitions. */
export const WorkflowChain = strict({
  chainId: TypeId,
  version: Version,
  label: Id,
  description: text(4096),
  parameters: Data,
  dag: strict({
    nodes: Type.Array(FragmentNode, { minItems: 1, maxItems: 500 }),
    'edges?': Type.Array(FragmentEdge, { maxItems: 2000 }),
  }),
  'outputs?': Type.Record(Type.String(), ChainOutput),
  'capabilities?': Type.Array(Capability, { uniqueItems: true, maxItems: 4 }),
  'internal?': Type.Boolean(),
  'subChains?': Type.Array(strict({ ref: SubChainRef }), { maxItems: 50 }),
  'producedVariables?': Type.Array(ProducedVariable, { maxItems: 200 }),
  'compensation?': Data,
});
export type WorkflowChain = Static<typeof WorkflowChain>;

const BOUNDS = { depthMax: 32, sizeMax: 1_048_576 } as const;
const schema = lazyValidator(WorkflowChain);

const refuse = (path: string, message: string): never => {
  throw invalid(`The chain is not valid: ${path || 'it'} ${message}.`, { path });
};

export const isChain = (value: unknown): value is WorkflowChain => schema.Check(value);

/** A chain from outside. Throws `validation_error` unless it is complete and within bounds. */
export function readChain(value: unknown): WorkflowChain {
  const issue = boundsIssue(value, BOUNDS);
  if (issue !== undefined) refuse('', issue);
  if (isChain(value)) return value;
  const [first] = schema.Errors(value)[1];
  return refuse(first?.instancePath ?? '', first?.message ?? 'does not fit');
}
