/** Helpers for JavaScript syntax trees. */
import { createRequire } from 'node:module';
import type { AnyNode } from 'acorn';

export type JsNode = AnyNode;

const OPTIONS = { ecmaVersion: 'latest', locations: true, allowHashBang: true } as const;

const require = createRequire(import.meta.url);

/** Parses a module, or else a script. Throws if neither works. */
export function parsed(source: string): JsNode {
  // Loaded on first use: half a megabyte of source.
  const { parse }: typeof import('acorn') = require('acorn');
  try {
    return parse(source, { ...OPTIONS, sourceType: 'module' });
  } catch {
    return parse(source, { ...OPTIONS, sourceType: 'script', allowReturnOutsideFunction: true });
  }
}

export const isNode = (value: unknown): value is JsNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** The direct children of a node, in order. */
export const membersOf = (node: JsNode): JsNode[] =>
  Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);

/** `name` and `'name'` as keys; undefined for numbers and private names. */
export function keyText(key: JsNode): string | undefined {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : undefined;
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/** All names that a function or module declares, in any block. */
export function declaredNames(root: JsNode): string[] {
  const names: string[] = [];
  const walk = (node: JsNode): void => {
    if (node.type === 'VariableDeclarator') names.push(...namesIn(node.id));
    if (node.type === 'CatchClause' && node.param) names.push(...namesIn(node.param));
    if ((node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') && node.id)
      names.push(node.id.name);
    if (node.type === 'ImportDeclaration') names.push(...node.specifiers.map(({ local }) => local.name));
    if (!FUNCTIONS.includes(node.type)) membersOf(node).forEach(walk);
  };
  if ('params' in root) names.push(...root.params.flatMap(namesIn));
  membersOf(root).forEach(walk);
  return names;
}

function namesIn(pattern: JsNode): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap((item) => (item ? namesIn(item) : []));
    case 'ObjectPattern':
      return pattern.properties.flatMap((member) =>
        namesIn(member.type === 'RestElement' ? member.argument : member.value),
      );
    default:
      return [];
  }
}
