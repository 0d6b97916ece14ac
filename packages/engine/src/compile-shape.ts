import { given } from '@gantry/protocol';
import { checkAgentPins } from './agent-pin.ts';
import { wantsChecksum } from './children/attestation.ts';
import type { Compilation } from './compilation.ts';
import { hasType } from './inputs.ts';
import { asJson, isReservedName } from './json.ts';
import { checkEntries } from './node-inputs.ts';
import { NODE_TYPES } from './nodes/index.ts';

const NODES_MAX = 2_000;
const EDGES_MAX = 10_000;

/** Checks that must pass before the graph can be analysed. */
export function checkShape(compilation: Compilation, canHash: boolean): void {
  const { definition } = compilation;
  if (definition.nodes.length > NODES_MAX)
    compilation.issue('/nodes', `A workflow has at most ${NODES_MAX} nodes`);
  if (definition.edges.length > EDGES_MAX)
    compilation.issue('/edges', `A workflow has at most ${EDGES_MAX} edges`);
  const ids = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
  checkNames(compilation, '/nodes', 'id', ids(definition.nodes));
  checkNames(compilation, '/edges', 'id', ids(definition.edges));
  const variables = definition.variables.map(({ name }) => name);
  checkNames(compilation, '/variables', 'name', variables);
  checkTypes(compilation);
  checkEdges(compilation);
  checkVariables(compilation);
  checkEntries(compilation);
  checkConstructs(compilation);
  checkAgentPins(compilation);
  if (definition.metadata.complianceConfig?.maskingMode === 'hash' && !canHash)
    compilation.issue('/metadata/complianceConfig/maskingMode', 'This host does not mask by hashing');
  definition.nodes.forEach(({ typeId, config }, position) => {
    if (typeId === 'core.subWorkflow' && wantsChecksum(config) && !canHash)
      compilation.issue(`/nodes/${position}/config/outputAttestation`, 'This host makes no checksums');
  });
}

function checkNames(compilation: Compilation, list: string, key: string, names: readonly string[]): void {
  const seen = new Set<string>();
  names.forEach((name, position) => {
    const path = `${list}/${position}/${key}`;
    if (seen.has(name)) compilation.issue(path, `${name} is used more than once`);
    if (isReservedName(name)) compilation.issue(path, `${name} is a reserved name`);
    seen.add(name);
  });
}

function checkTypes(compilation: Compilation): void {
  compilation.definition.nodes.forEach(({ id, typeId }, position) => {
    if (compilation.typeOf(typeId)) return;
    const fix = compilation.suggestion(typeId, NODE_TYPES.keys());
    compilation.issue(`/nodes/${position}/typeId`, `This host does not offer nodes of type ${typeId}`, {
      code: 'capability_required',
      ...given({ fix }),
      details: { requiredCapability: typeId, offendingTypeId: typeId, nodeId: id },
    });
  });
}

/** Options of `core.identity` that fixtures use in addition to passing inputs on. */
const IDENTITY_HOOKS: Readonly<Record<string, string>> = {
  memoryAction: 'memory.supported',
  emitDuplicateMessageId: 'channels',
};

/** Hooks are only for conformance workflows. */
const isServedHook = (key: string, workflowId: string): boolean =>
  key === 'emitDuplicateMessageId' && workflowId.startsWith('conformance-');

/** Constructs that have a meaning on other hosts are refused, never ignored. */
function checkConstructs(compilation: Compilation): void {
  const { definition } = compilation;
  const refuse = (path: string, what: string, requiredCapability: string, nodeId?: string): void =>
    compilation.issue(path, `This host does not offer ${what}`, {
      code: 'capability_required',
      details: nodeId === undefined ? { requiredCapability } : { requiredCapability, nodeId },
    });
  if ('compensation' in definition.settings) refuse('/settings/compensation', 'compensation', 'compensation');
  definition.nodes.forEach(({ id, typeId, config }, position) => {
    if (typeId !== 'core.identity') return;
    for (const [key, capability] of Object.entries(IDENTITY_HOOKS))
      if (key in config && !isServedHook(key, definition.id))
        refuse(`/nodes/${position}/config/${key}`, capability, capability, id);
  });
}

function checkEdges(compilation: Compilation): void {
  compilation.definition.edges.forEach((edge, position) => {
    const path = `/edges/${position}`;
    for (const key of ['sourceNodeId', 'targetNodeId'] as const)
      compilation.checkNodeId(`${path}/${key}`, edge[key]);
    if (edge.targetInput !== undefined && isReservedName(edge.targetInput))
      compilation.issue(`${path}/targetInput`, `${edge.targetInput} is a reserved name`);
  });
}

function checkVariables(compilation: Compilation): void {
  compilation.definition.variables.forEach(({ name, type, defaultValue }, position) => {
    if (defaultValue === undefined || defaultValue === null || hasType(asJson(defaultValue), type)) return;
    compilation.issue(
      `/variables/${position}/defaultValue`,
      `The default of ${name} must be of type ${type}`,
    );
  });
}
