/** The syntax tree of an expression, as the library parses it. */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';

export type { ASTNode } from '@marcbachmann/cel-js';

const environment = new Environment({
  limits: { maxAstNodes: 1_000, maxDepth: 64, maxListElements: 256, maxMapEntries: 256, maxCallArguments: 8 },
});

export function parse(text: string): ASTNode {
  try {
    return environment.parse(text).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const place = error.range ? ` at character ${error.range.start + 1}` : '';
    throw new Error(`The expression cannot be read: ${error.summary}${place}`);
  }
}

export type Path = readonly string[];

/** The paths that an expression reads by name, such as `['nodes', 'a', 'outputs', 'total']`, each with its prefixes. */
export function readsIn(ast: ASTNode): readonly Path[] {
  const reads: Path[] = [];
  const bound = new Set<string>();
  visit(ast, (node) => {
    // `items.map(item, ...)` binds a local name
    if (node.op === 'rcall' && node.args[2].length > 1 && node.args[2][0]?.op === 'id')
      bound.add(node.args[2][0].args);
    const path = pathOf(node);
    if (path && path.length > 1) reads.push(path);
  });
  return reads.filter(([root = '']) => !bound.has(root));
}

/** Undefined if it does not begin with a name, or if a key is computed. */
function pathOf(ast: ASTNode): Path | undefined {
  if (ast.op === 'id') return [ast.args];
  if (ast.op !== '.' && ast.op !== '[]') return;
  const [target, key] = ast.args;
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  const path = pathOf(target);
  return path && typeof name === 'string' ? [...path, name] : undefined;
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value;

function visit(value: unknown, see: (node: ASTNode) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, see);
  if (!isNode(value)) return;
  see(value);
  visit(value.args, see);
}
