import * as ast from 'typescript/unstable/ast';
import { type Files, isCode } from './files.ts';
import { descendants, lineOf, type Trees } from './syntax.ts';

export const LINES_MAX = { file: 350, function: 70 } as const;

/** `path` or `path#function` to the lines it has today and why it may. Entries only shrink or go. */
export type Ratchet = Readonly<Record<string, { readonly lines: number; readonly reason: string }>>;

const REGISTERS_TESTS: ReadonlySet<string> = new Set(['describe', 'suite', 'test', 'it']);

const isTestBlock = (node: ast.Node): boolean =>
  ast.isCallExpression(node) && REGISTERS_TESTS.has(node.expression.getText());

function lineCount(tree: ast.SourceFile, node: ast.Node): number {
  return lineOf(tree, node.getEnd()) - lineOf(tree, node.getStart(tree)) + 1;
}

/** The outermost test blocks inside a function: a suite is a list, and each test counts by itself. */
function testBlocks(node: ast.Node): ast.Node[] {
  const found: ast.Node[] = [];
  node.forEachChild((child) => {
    found.push(...(isTestBlock(child) ? [child] : testBlocks(child)));
  });
  return found;
}

function functionLines(tree: ast.SourceFile, node: ast.Node): number {
  return testBlocks(node).reduce((lines, block) => lines - lineCount(tree, block) + 1, lineCount(tree, node));
}

const isFunction = (node: ast.Node): boolean =>
  ast.isFunctionDeclaration(node) ||
  ast.isFunctionExpression(node) ||
  ast.isArrowFunction(node) ||
  ast.isMethodDeclaration(node) ||
  ast.isConstructorDeclaration(node) ||
  ast.isGetAccessorDeclaration(node) ||
  ast.isSetAccessorDeclaration(node);

function nameOf(tree: ast.SourceFile, node: ast.Node): string {
  const named = 'name' in node && node.name ? node : node.parent;
  if ('name' in named && named.name) return (named.name as ast.Node).getText(tree);
  if (ast.isCallExpression(named) && named.arguments[0]) return named.arguments[0].getText(tree);
  return `line ${lineOf(tree, node.getStart(tree))}`;
}

/** Everything above a limit, by the key it would have in the ratchet. */
export function tooLong(files: Files, trees: Trees): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [file, text] of files) {
    if (!isCode(file)) continue;
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    if (lines > LINES_MAX.file) found.set(file, lines);
  }
  for (const [file, tree] of trees) {
    for (const node of descendants(tree)) {
      if (!isFunction(node)) continue;
      const lines = functionLines(tree, node);
      if (lines > LINES_MAX.function) found.set(`${file}#${nameOf(tree, node)}`, lines);
    }
  }
  return found;
}

export function checkLength(long: ReadonlyMap<string, number>, ratchet: Ratchet): string[] {
  const problems: string[] = [];
  for (const [key, lines] of long) {
    const entry = ratchet[key];
    if (!entry) problems.push(`${key}: ${lines} lines; split it`);
    else if (lines > entry.lines) problems.push(`${key}: grew from ${entry.lines} to ${lines} lines`);
    else if (lines < entry.lines) problems.push(`${key}: now ${lines} lines; lower its ratchet entry`);
  }
  for (const [key, entry] of Object.entries(ratchet)) {
    if (!long.has(key)) problems.push(`${key}: no longer too long; remove its ratchet entry`);
    if (entry.reason.trim() === '') problems.push(`${key}: its ratchet entry has no reason`);
  }
  return problems;
}
