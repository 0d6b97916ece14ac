import * as ast from 'typescript/unstable/ast';
import { descendants, place, type Trees } from './syntax.ts';

/** Names the pure core may not use as values: time, chance, the outside world, and what waits. */
const BANNED: ReadonlySet<string> = new Set([
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'Promise',
  'crypto',
  'fetch',
  'console',
  'globalThis',
  'Intl',
]);
const BANNED_MEMBERS: ReadonlySet<string> = new Set(['Date.now', 'Math.random']);
const LOCALE = /^(localeCompare|toLocale\w+)$/;

/** A name that is read as a value: not a property's own name, a declared member or a type. */
function isValue(node: ast.Identifier): boolean {
  const { parent } = node;
  if (ast.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ast.isTypeReferenceNode(parent) || ast.isQualifiedName(parent)) return false;
  const named = 'name' in parent && parent.name === node;
  return !named || ast.isShorthandPropertyAssignment(parent);
}

function nameProblem(node: ast.Identifier): string | undefined {
  return BANNED.has(node.text) && isValue(node) ? `uses ${node.text}` : undefined;
}

function memberProblem(node: ast.PropertyAccessExpression): string | undefined {
  const name = node.name.text;
  if (LOCALE.test(name)) return `uses ${name}, which differs between machines`;
  const member = `${node.expression.getText()}.${name}`;
  return BANNED_MEMBERS.has(member) ? `uses ${member}` : undefined;
}

function callProblem(node: ast.CallExpression | ast.NewExpression): string | undefined {
  const callee = node.expression.getText();
  if (callee === 'RegExp') return 'makes a RegExp; patterns go through re2js';
  if (callee !== 'Date') return undefined;
  const readsClock = ast.isCallExpression(node) || (node.arguments?.length ?? 0) === 0;
  return readsClock ? 'reads the clock with Date' : undefined;
}

function problemOf(node: ast.Node): string | undefined {
  if (node.kind === ast.SyntaxKind.AsyncKeyword || node.kind === ast.SyntaxKind.AwaitKeyword)
    return 'waits; the core decides and returns';
  if (ast.isAwaitExpression(node)) return 'waits; the core decides and returns';
  if (ast.isIdentifier(node)) return nameProblem(node);
  if (ast.isPropertyAccessExpression(node)) return memberProblem(node);
  if (ast.isCallExpression(node) || ast.isNewExpression(node)) return callProblem(node);
  return undefined;
}

/** Inputs of the runtime: what reads a clock, sets a timer or rolls dice there bypasses its `Clock` and entropy. */
const INPUTS = /^(performance|setTimeout|setInterval|setImmediate|Date\.now|Math\.random|randomUUID)$/;
const INPUT_MODULES = /^node:timers/;

export function checkInputs(trees: Trees): string[] {
  const problems: string[] = [];
  for (const [file, tree] of trees) {
    for (const node of descendants(tree)) {
      const isName = ast.isIdentifier(node) && isValue(node);
      const isModule = ast.isStringLiteral(node) && INPUT_MODULES.test(node.text);
      const isNamed = (isName || ast.isPropertyAccessExpression(node)) && INPUTS.test(node.getText());
      if (isModule || isNamed)
        problems.push(`${place(file, tree, node)}: ${node.getText()} instead of an input`);
    }
  }
  return problems;
}

/** What the pure core may not do: wait, read clocks, roll dice, or touch the world. */
export function checkPurity(trees: Trees): string[] {
  const problems: string[] = [];
  for (const [file, tree] of trees) {
    for (const node of descendants(tree)) {
      const problem = problemOf(node);
      if (problem !== undefined) problems.push(`${place(file, tree, node)}: ${problem}`);
    }
  }
  return problems;
}
