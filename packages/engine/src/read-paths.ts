/**
 * Compares the paths that conditions and mappings read with the declared variables, and with the outputs of
 * nodes whose type declares them.
 */
import { didYouMean, type Json, meant, type WorkflowEdge } from '@gantry/protocol';
import type { Compilation } from './compilation.ts';
import type { Condition } from './condition.ts';
import type { Path } from './expression-ast.ts';
import { isObject } from './json.ts';

/**
 * Checks `['variables', name]` and `['nodes', id, 'outputs', name]`. `checkEdgeRead` checks what an edge reads
 * of its source.
 */
export function checkRead(compilation: Compilation, path: string, read: Path): void {
  const [root, first, member, name] = read;
  if (root === 'variables' && read.length === 2) checkVariable(compilation, path, first!);
  if (root === 'nodes' && member === 'outputs' && read.length === 4)
    checkOutput(compilation, path, { nodeId: first!, name: name! });
}

function checkVariable(compilation: Compilation, path: string, name: string): void {
  const { variables } = compilation;
  if (!variables.has(name)) compilation.warn(path, `${noVariable(name, variables)}.`);
}

export const noVariable = (name: string, variables: ReadonlyMap<string, unknown>): string =>
  `The workflow declares no variable ${name}${meant(name, [...variables.keys()])}`;

/** The members of a result that a condition without an expression can begin with. */
const RESULT = ['status', 'outputs', 'output', 'error'];

export function checkEdge(
  compilation: Compilation,
  path: string,
  { sourceNodeId: nodeId, sourceOutput }: Pick<WorkflowEdge, 'sourceNodeId' | 'sourceOutput'>,
  condition: Condition | undefined,
): void {
  if (sourceOutput !== undefined)
    checkOutput(compilation, `${path}/sourceOutput`, { nodeId, name: sourceOutput });
  if (!condition) return;
  const isResult = condition.type !== 'expression';
  for (const read of condition.type === 'expression' ? condition.expression.reads : [condition.path])
    checkEdgeRead(compilation, `${path}/condition`, { nodeId, read, isResult });
}

/** Checks a path that the condition of an edge reads of its source. With `isResult`, nothing else can be read there. */
function checkEdgeRead(
  compilation: Compilation,
  path: string,
  { nodeId, read, isResult }: { readonly nodeId: string; readonly read: Path; readonly isResult: boolean },
): void {
  const [root = '', name] = read;
  if (isResult && !RESULT.includes(root))
    compilation.warn(
      path,
      `A path begins with ${RESULT.join(', ')}: ${read.join('.')} does not exist.${didYouMean(root, RESULT)}`,
    );
  if (name === undefined || (root !== 'outputs' && root !== 'output')) return;
  // `output` is the output of that name if there is one, else all outputs
  if (root === 'output' && outputsOf(compilation, nodeId)?.names.includes('output')) return;
  checkOutput(compilation, path, { nodeId, name });
}

export function checkOutput(
  compilation: Compilation,
  path: string,
  { nodeId, name }: { readonly nodeId: string; readonly name: string },
): void {
  const declared = outputsOf(compilation, nodeId);
  if (!declared || declared.names.includes(name)) return;
  const message = `The node ${nodeId} declares no output ${name}.${didYouMean(name, declared.names)}`;
  if (declared.isClosed) compilation.issue(path, message);
  else compilation.warn(path, message);
}

/** The outputs that its type declares; undefined if it declares no names. */
function outputsOf(
  compilation: Compilation,
  nodeId: string,
): { readonly names: readonly string[]; readonly isClosed: boolean } | undefined {
  const node = compilation.nodes.get(nodeId);
  const type = node && compilation.typeOf(node.typeId);
  if (type?.outputs) return { names: type.outputs, isClosed: false };
  const schema: Json | undefined = type?.pack?.outputSchema;
  if (!isObject(schema) || !isObject(schema.properties)) return;
  return { names: Object.keys(schema.properties), isClosed: schema.additionalProperties === false };
}
