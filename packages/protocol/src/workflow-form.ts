/**
 * The short form of a definition: members that only editors need, and empty ones, can be omitted. Hosts fill them in
 * before they hash or check a definition, so both forms are the same version.
 */
import { isObject, type JsonObject } from './json.ts';
import type { WorkflowDefinition, WorkflowNode } from './workflow.ts';

const nodeBlanks = () => ({ position: { x: 0, y: 0 }, config: {}, inputs: {} });
const blanks = () => ({ edges: [], triggers: [], variables: [], metadata: {}, settings: {} });

/** Members that can be omitted. */
export const OMITTED = { workflow: Object.keys(blanks()), node: Object.keys(nodeBlanks()) } as const;

type Short<Whole, Name extends keyof Whole> = Omit<Whole, Name> & Partial<Pick<Whole, Name>>;

export type ShortNode = Short<WorkflowNode, keyof ReturnType<typeof nodeBlanks>>;
export type ShortWorkflow = Omit<Short<WorkflowDefinition, keyof ReturnType<typeof blanks>>, 'nodes'> & {
  readonly nodes: readonly ShortNode[];
};

/** Fills in what the author omitted. Everything else is returned as given, also if it is wrong. */
export function wholeWorkflow(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { nodes } = given;
  const whole = { ...blanks(), ...given };
  return Array.isArray(nodes) ? { ...whole, nodes: nodes.map(wholeNode) } : whole;
}

const wholeNode = (node: unknown): unknown => (isObject(node) ? { ...nodeBlanks(), ...node } : node);

/** Omits what `wholeWorkflow` fills in. */
export function shortWorkflow(definition: WorkflowDefinition): JsonObject {
  const nodes = definition.nodes.map((node) => without(node, nodeBlanks()));
  return { ...without(definition, blanks()), nodes };
}

function without(whole: object, blank: object): JsonObject {
  const members = Object.entries(whole).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Object(blank)[name]),
  );
  return Object.fromEntries(members);
}
