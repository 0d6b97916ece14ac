/**
 * Compares the paths that conditions and mappings read with the declared variables, and with the outputs of
 * nodes whose type declares them.
 */
import { given, type Json, type WorkflowEdge } from '@gantry/protocol';
import type { Mapping } from './children/mapping.ts';
import type { Compilation } from './compilation.ts';
import type { Condition } from './condition.ts';
import type { Path } from './expression-ast.ts';
import { isObject } from './json.ts';
import { checkInputName, declaredInputs } from './node-inputs.ts';
import type { NodeType } from './nodes/node-type.ts';

/**
 * Checks `['variables', name]` and `['nodes', id, 'outputs', name]`. `checkEdgeRead` checks what an edge reads
 * of its source.
 */
export function checkRead(
  compilation: Compilation,
  path: string,
  read: Path,
  inputs?: ReadonlySet<string>,
): void {
  const [root, first, member, name] = read;
  if (root === 'variables' && read.length === 2) checkVariable(compilation, path, first!);
  if (root === 'inputs' && read.length === 2) checkInput(compilation, path, first!, inputs);
  if (root === 'nodes' && member === 'outputs' && read.length === 4)
    checkOutput(compilation, path, { nodeId: first!, name: name! });
}

/** A variable that a mapping of a child writes can be read, but the law does not ask for its declaration. */
export function checkVariable(
  compilation: Compilation,
  path: string,
  name: string,
  direction: keyof Mapping = 'inputs',
): void {
  const { definition, variables, writtenVariables } = compilation;
  const known =
    direction === 'inputs'
      ? writtenVariables
      : [...variables.keys(), ...Object.keys(definition.channels ?? {})];
  const names = new Set(known);
  if (!names.has(name))
    compilation.warn(path, noVariable(name), compilation.suggestion(name, names) ?? DECLARE);
}

export const noVariable = (name: string): string => `The workflow declares no variable ${name}`;

export const DECLARE = 'Declare it in `variables`.';

/** Those of the run by default: its variables. A parent may give its child others. */
function checkInput(
  compilation: Compilation,
  path: string,
  name: string,
  own: ReadonlySet<string> | undefined,
): void {
  const known = own ?? new Set(compilation.variables.keys());
  if (known.has(name)) return;
  const message = own
    ? `The node gets no input ${name}`
    : `The run gets no input ${name}, since no variable declares it`;
  const fix = own ? 'Add it to the `inputs` of the node.' : DECLARE;
  compilation.warn(path, message, compilation.suggestion(name, known) ?? fix);
}

/** The members of a result that a condition without an expression can begin with. */
const RESULT = ['status', 'outputs', 'output', 'error'];

export function checkEdge(
  compilation: Compilation,
  path: string,
  { sourceNodeId: nodeId, sourceOutput, targetNodeId, targetInput }: WorkflowEdge,
  condition: Condition | undefined,
): void {
  const target = compilation.nodes.get(targetNodeId);
  const wanted = declaredInputs(target && compilation.typeOf(target.typeId)?.pack?.inputSchema);
  if (targetInput !== undefined && wanted)
    checkInputName(compilation, `${path}/targetInput`, targetInput, wanted);
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
      `A path begins with ${RESULT.join(', ')}: ${read.join('.')} does not exist`,
      compilation.suggestion(root, RESULT),
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
  const message = `The node ${nodeId} declares no output ${name}`;
  const fix = compilation.suggestion(name, declared.names);
  if (declared.isClosed) compilation.issue(path, message, given({ fix }));
  else compilation.warn(path, message, fix);
}

/** The outputs that its type declares; undefined if it declares no names. */
function outputsOf(
  compilation: Compilation,
  nodeId: string,
): { readonly names: readonly string[]; readonly isClosed: boolean } | undefined {
  const node = compilation.nodes.get(nodeId);
  const type = node && compilation.typeOf(node.typeId);
  if (type?.outputs) return { names: namesOf(compilation, nodeId, type.outputs), isClosed: false };
  const schema: Json | undefined = type?.pack?.outputSchema;
  if (!isObject(schema) || !isObject(schema.properties)) return;
  return { names: Object.keys(schema.properties), isClosed: schema.additionalProperties === false };
}

function namesOf(
  { inputNames, variables }: Compilation,
  nodeId: string,
  outputs: NonNullable<NodeType['outputs']>,
): readonly string[] {
  if (outputs === 'inputs') return [...inputNames.get(nodeId)!];
  return outputs === 'variables' ? [...variables.keys()] : outputs;
}
