/** Workflows as the public scenarios and examples write them: a list of nodes. Missing members are filled in. */
import { CONFORMANCE_MARK } from '@gantry/engine';
import { type Api, callerOf } from '@gantry/http';
import { invalid, optional, Values, type WorkflowDefinition, type WorkflowNode } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import type { ApiDeps } from '../context.ts';
import { definition, edge, node } from './definition.ts';
import { seamAt } from './seam.ts';

const Id = Type.String({ minLength: 1, maxLength: 128 });
const Small = Type.Object({
  workflowId: Id,
  nodes: Type.Array(
    Type.Object({
      nodeId: Id,
      typeId: Id,
      config: optional(Values),
      inputs: optional(Values),
    }),
    { minItems: 1, maxItems: 200 },
  ),
  edges: optional(Type.Array(Type.Object({ from: Id, to: Id }), { maxItems: 1_000 })),
});
/** A complete definition, or a small one. */
const Body = Type.Union([Type.Object({ definition: Values }), Small]);
const Registered = Type.Object({ workflowId: Type.String() });
/** Permits playing agents. */
const MARKED: object = { [CONFORMANCE_MARK]: true };

/** Mappings that other hosts may lack, by the names of their capabilities: the types whose setting they are. */
export const MAPPINGS: ReadonlyMap<string, string> = new Map([
  ['agents.dispatchMapping', 'core.dispatch'],
  ['subWorkflow.inputMapping', 'core.subWorkflow'],
]);

/** As a host without the mapping refuses it, before it looks at anything else. */
function checkMappings(nodes: unknown, toggles: ReadonlyMap<string, boolean>): void {
  for (const [requiredCapability, typeId] of MAPPINGS) {
    if (toggles.get(requiredCapability) ?? true) continue;
    for (const each of Array.isArray(nodes) ? nodes : []) {
      const { typeId: type, config } = Object(each);
      if (type !== typeId || Object.keys(Object(Object(config).inputMapping)).length === 0) continue;
      const message = `This host does not offer inputMapping of ${typeId}.`;
      throw invalid(message, { requiredCapability });
    }
  }
}

export function smallWorkflowSeams(
  app: Api,
  { workflows, store }: ApiDeps,
  toggles: ReadonlyMap<string, boolean>,
): void {
  const schema = { body: Body, response: { 201: Registered } };
  app.post(...seamAt('workflows', schema), async (request, reply) => {
    const { body } = request;
    checkMappings(('definition' in body ? body.definition : body).nodes, toggles);
    const wanted = 'definition' in body ? played(body.definition) : wholeOf(body);
    const { workflowId } = await workflows.register(callerOf(request).tenant, wanted, { replace: true });
    void reply.code(201);
    return { workflowId };
  });
  const Listed = Type.Object({ workflows: Type.Array(Registered) });
  app.get(...seamAt('GET workflows', { response: { 200: Listed } }), async (request) => {
    const listed = await store.records.workflows(callerOf(request).tenant);
    return { workflows: listed.map(({ workflowId }) => ({ workflowId })) };
  });
}

/** Public examples play models, and write an empty object for no variables. */
const played = (definition: { readonly [member: string]: unknown }): object => ({
  ...definition,
  ...(JSON.stringify(definition.variables) === '{}' && { variables: [] }),
  metadata: { ...Object(definition.metadata), ...MARKED },
});

/** Without edges the nodes run in order. Declares the variables that outputs of children are mapped to. */
function wholeOf({ workflowId, nodes, edges }: Static<typeof Small>): WorkflowDefinition {
  const pairs = edges ?? nodes.slice(1).map(({ nodeId }, at) => ({ from: nodes[at]!.nodeId, to: nodeId }));
  const whole = nodes.map(({ nodeId, typeId, config = {}, inputs = {} }) => {
    const more = { config, inputs } as Pick<WorkflowNode, 'config' | 'inputs'>;
    return node(nodeId, typeId, more);
  });
  const written = whole.flatMap(({ config }) => Object.keys(Object(config.outputMapping)));
  const made = definition(workflowId, whole, {
    edges: pairs.map(({ from, to }) => edge(nodeOf(nodes, from), nodeOf(nodes, to))),
    variables: [...new Set(written)].map((name) => ({ name, type: 'string' })),
  });
  return { ...made, metadata: { ...MARKED } };
}

/** A port may follow the node: `first.output`. */
function nodeOf(nodes: Static<typeof Small>['nodes'], end: string): string {
  const found = [end, end.split('.')[0]!].find((id) => nodes.some(({ nodeId }) => nodeId === id));
  if (found === undefined) throw invalid(`An edge names ${end}, which is no node.`);
  return found;
}
