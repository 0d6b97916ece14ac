import type { Json, JsonObject, WorkflowDefinition } from '@gantry/protocol';
import type { ArtifactTypes } from './artifacts/node-artifact.ts';
import { compileChannels } from './channels/compile-channels.ts';
import { Compilation } from './compilation.ts';
import { nodeParts, type OwnParts } from './compile-node.ts';
import { checkShape } from './compile-shape.ts';
import type { Condition } from './condition.ts';
import { analyse, type Graph } from './graph.ts';
import { isObject } from './json.ts';
import { createMask, type Sha256 } from './mask.ts';
import type { PackTypes } from './nodes/pack-node.ts';
import type { Loop, Plan, PlanEdge, PlanNode } from './plan.ts';
import { checkEdge } from './read-paths.ts';
import type { CompileSchema } from './schema.ts';

export interface CompileOptions {
  /** Needed by workflows that mask by hashing or attest the outputs of children. */
  readonly sha256?: Sha256;
  /** Needed by workflows that contain schemas. */
  readonly compileSchema?: CompileSchema;
  /** Node types in addition to the host's own. */
  readonly packTypes?: PackTypes;
  /** Types of artifacts that packs register. */
  readonly artifactTypes?: ArtifactTypes;
}

const NO_SCHEMAS: CompileSchema = () => 'This host does not check schemas';

type Building<Part> = { -readonly [Key in keyof Part]: Part[Key] };
type BuildingNode = Building<Omit<PlanNode, Lists>> & { [Key in Lists]: PlanEdge[] };
type Lists = 'incoming' | 'outgoing' | 'loopbacksIn' | 'loopbacksOut' | 'conditional';
type BuildingEdge = Building<Omit<PlanEdge, 'exits'>> & { exits: Loop[] };

/** Compiles a definition. Throws `DefinitionError` with all of its issues. */
export function compile(definition: WorkflowDefinition, options: CompileOptions = {}): Plan {
  const { compileSchema = NO_SCHEMAS } = options;
  const compilation = new Compilation(definition, { ...options, compileSchema });
  checkShape(compilation, options.sha256 !== undefined);
  compileChannels(compilation);
  const parts = definition.nodes.flatMap((node, position) =>
    compilation.typeOf(node.typeId) ? [nodeParts(compilation, node, position)] : [],
  );
  const conditions = definition.edges.map((edge, position) => {
    const path = `/edges/${position}`;
    const condition = edge.condition && compilation.condition(`${path}/condition`, edge.condition);
    checkEdge(compilation, path, edge, condition);
    return condition;
  });
  // The graph needs a valid definition; all issues up to here are reported together
  compilation.throwIfWrong();
  const index = new Map(definition.nodes.map((node, position) => [node.id, position]));
  const graph = analyse(
    definition.nodes.length,
    definition.edges.map((edge) => ({
      source: index.get(edge.sourceNodeId)!,
      target: index.get(edge.targetNodeId)!,
    })),
  );
  if (graph.loops.length > LOOPS_MAX)
    compilation.issue('/edges', `A workflow can have at most ${LOOPS_MAX} loops`);
  const nodes = buildNodes(compilation, parts, graph);
  const edges = buildEdges(compilation, nodes, conditions, graph);
  compilation.throwIfWrong();
  const loops = buildLoops(nodes, edges, graph);
  return planOf(compilation, nodes, loops, { ...options, compileSchema });
}

const LOOPS_MAX = 100;

function planOf(
  { definition, variables, channels, warnings }: Compilation,
  nodes: readonly BuildingNode[],
  loops: readonly Loop[],
  { sha256, compileSchema }: CompileOptions & { readonly compileSchema: CompileSchema },
): Plan {
  const { timeout } = definition.settings;
  const order = [...nodes].sort((left, right) => left.index - right.index);
  return {
    definition,
    nodes: new Map(nodes.map((node) => [node.id, node])),
    order,
    outside: order.filter((node) => node.leavesProcess),
    looping: order.filter((node) => node.loopbacksOut.length > 0),
    loops,
    variables,
    mask: createMask(definition.metadata.complianceConfig?.maskingMode ?? 'mask', sha256),
    channels,
    warnings,
    compileSchema,
    ...(sha256 && { sha256 }),
    ...(timeout && { timeoutMs: timeout }),
  };
}

function buildNodes(
  { definition: { nodes } }: Compilation,
  parts: readonly OwnParts[],
  graph: Graph,
): BuildingNode[] {
  const order = nodes.map((_, position) => position);
  order.sort((left, right) => {
    const deeper = graph.depth[left]! - graph.depth[right]!;
    if (deeper !== 0) return deeper;
    return nodes[left]!.id < nodes[right]!.id ? -1 : 1;
  });
  const rank = new Array<number>(nodes.length);
  order.forEach((position, place) => {
    rank[position] = place;
  });
  return parts.map((part, position) => ({
    ...part,
    index: rank[position]!,
    rule: 'all_success' as const,
    incoming: [],
    outgoing: [],
    loopbacksIn: [],
    loopbacksOut: [],
    conditional: [],
  }));
}

function buildEdges(
  { definition }: Compilation,
  nodes: BuildingNode[],
  conditions: readonly (Condition | undefined)[],
  graph: Graph,
): BuildingEdge[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = definition.edges.map((edge, position): BuildingEdge => {
    const source = byId.get(edge.sourceNodeId)!;
    const target = byId.get(edge.targetNodeId)!;
    const condition = conditions[position];
    const built: BuildingEdge = {
      id: edge.id,
      source,
      target,
      sourceOutput: edge.sourceOutput ?? 'output',
      targetInput: edge.targetInput ?? 'input',
      ...(condition && { condition }),
      handlesFailure: false,
      loopbacksMax: loopbacksMax(definition, target),
      exits: [],
    };
    const back = graph.isBack[position];
    (back ? source.loopbacksOut : source.outgoing).push(built);
    (back ? target.loopbacksIn : target.incoming).push(built);
    if (condition) source.conditional.push(built);
    if (condition?.type === 'expression')
      source.channelReads = new Set([...source.channelReads, ...condition.expression.channelNames]);
    return built;
  });
  setRules(definition, nodes, edges);
  return edges;
}

/** The rule of a node is that of its forward edge with the lowest id. */
function setRules(
  definition: WorkflowDefinition,
  nodes: readonly BuildingNode[],
  edges: readonly BuildingEdge[],
): void {
  const rules = new Map(definition.edges.map((edge) => [edge.id, edge.triggerRule ?? 'all_success']));
  for (const node of nodes) {
    if (node.incoming.length === 0) continue;
    const first = node.incoming.reduce((lowest, edge) => (edge.id < lowest.id ? edge : lowest));
    node.rule = rules.get(first.id)!;
  }
  for (const edge of edges)
    edge.handlesFailure =
      !edge.target.disabled && (edge.target.rule === 'any_failed' || edge.target.rule === 'all_complete');
}

const LOOP_NODE_ITERATIONS = 10_000;
const LOOPBACK_ITERATIONS = 5;

function loopbacksMax(definition: WorkflowDefinition, head: PlanNode): number {
  // A supervisor counts its own turns.
  if (head.typeId === 'core.orchestrator.supervisor') return Number.POSITIVE_INFINITY;
  if (head.typeId !== 'core.loop') return definition.settings.maxLoopbackIterations ?? LOOPBACK_ITERATIONS;
  const config: unknown = head.definition.config;
  const wish: Json | undefined = isObject(config) ? (config as JsonObject).maxIterations : undefined;
  return typeof wish === 'number' ? wish : LOOP_NODE_ITERATIONS;
}

function buildLoops(nodes: readonly BuildingNode[], edges: readonly BuildingEdge[], graph: Graph): Loop[] {
  return graph.loops.map(({ head, body }) => {
    const members = nodes
      .filter((_, position) => body.has(position))
      .sort((left, right) => left.index - right.index);
    const inside = new Set<PlanNode>(members);
    const loop: Loop = {
      head: nodes[head]!,
      body: members,
      bodyIds: members.map((node) => node.id),
      innerEdgeIds: members
        .filter((node) => node !== nodes[head])
        .flatMap((node) => node.loopbacksIn.map((edge) => edge.id)),
    };
    edges.forEach((edge, position) => {
      if (graph.isBack[position]) {
        if (edge.target === loop.head) edge.loop = loop;
      } else if (inside.has(edge.source) && !inside.has(edge.target)) edge.exits.push(loop);
    });
    return loop;
  });
}
