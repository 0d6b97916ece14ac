import * as ast from 'typescript/unstable/ast';
import { type Files, isTestCode } from './files.ts';
import { descendants, place, type Trees } from './syntax.ts';

interface TextRule {
  readonly pattern: RegExp;
  readonly says: string;
  readonly where?: (file: string) => boolean;
}

/** Rows and wires where the default workspace has another spelling. */
const isRow = (file: string): boolean =>
  /^packages\/(store\/src\/|protocol\/src\/owner\.ts|host\/src\/(runtime\/run-record|packs\/grants)\.ts)/.test(
    file,
  );

const TEXT_RULES: readonly TextRule[] = [
  { pattern: /\b(TODO|FIXME|XXX)\b/, says: 'is unfinished; finish it or drop it' },
  { pattern: /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable/, says: 'silences a checker' },
  {
    pattern: /(?<![\w.:/-])\/(work|root|home\/\w+|Users\/\w+|tmp\/probe)\//,
    says: 'holds a path of one machine',
  },
  {
    pattern: /registry\.npmjs\.org|registry\.yarnpkg\.com|npmmirror|artifactory|verdaccio/i,
    says: 'names an npm registry host',
  },
  {
    pattern: /"resolved": "[a-z+]+:\/\//,
    says: 'pins a download address',
    where: (file) => file.endsWith('package-lock.json'),
  },
  {
    pattern: /^\s*(@[\w-]+:)?registry\s*=/,
    says: 'sets a registry',
    where: (file) => file.endsWith('.npmrc'),
  },
  {
    pattern: /\bworkspace\b\s*(:|=|\?\?|\|\||[!=]==)\s*(''|""|null)/,
    says: 'is another spelling of the default workspace, DEFAULT_WORKSPACE',
    where: (file) => file.startsWith('packages/') && !isTestCode(file) && !isRow(file),
  },
];

/** Rules on plain text; `file:line: what is wrong`. */
export function checkText(files: Files): string[] {
  const problems: string[] = [];
  for (const [file, text] of files) {
    const rules = TEXT_RULES.filter(({ where }) => where?.(file) ?? true);
    text.split('\n').forEach((line, index) => {
      for (const rule of rules) {
        if (rule.pattern.test(line)) problems.push(`${file}:${index + 1}: ${rule.says}`);
      }
    });
  }
  return problems;
}

const mayPrint = (file: string): boolean =>
  /^(packages\/cli\/|bench\/|examples\/|scripts\/|packages\/host\/src\/main\.ts$)/.test(file);

/** The main files of processes. Other code of packages may be in a process of somebody else. */
const mayExit = (file: string): boolean =>
  !file.startsWith('packages/') ||
  /\/bin\/|\/src\/(main\.ts|process\.ts|runner\/.+|jobs\/serve-jobs\.ts)$/.test(file);

const EXITS = /^process\.(exit|exitCode|abort)$/;

const SKIPS = /^(test|it|describe|suite)\.(skip|only|todo)$/;

const isSpreadLiteral = (node: ast.Node): boolean =>
  (ast.isSpreadAssignment(node) && ast.isObjectLiteralExpression(node.expression)) ||
  (ast.isSpreadElement(node) && ast.isArrayLiteralExpression(node.expression));

function syntaxProblem(file: string, node: ast.Node): string | undefined {
  if (node.kind === ast.SyntaxKind.AnyKeyword) return 'uses any';
  if (ast.isAsExpression(node) && ast.isAsExpression(node.expression))
    return 'casts twice, which checks nothing';
  if (isSpreadLiteral(node)) return 'spreads a literal, in which no type is checked; write its members';
  if (!ast.isPropertyAccessExpression(node)) return undefined;
  const member = node.getText();
  if (SKIPS.test(member)) return `uses ${member}; skip inside the test, with the reason: t.skip('...')`;
  if (member === 'console.log' && !mayPrint(file) && !isTestCode(file)) return 'prints; use the log';
  if (EXITS.test(member) && !mayExit(file) && !isTestCode(file)) return `uses ${member}; throw, or answer it`;
  return undefined;
}

/** `t.skip()` says why, or it is a test that nobody misses. */
function skipProblem(node: ast.Node): string | undefined {
  if (!ast.isCallExpression(node) || !/^\w+\.skip$/.test(node.expression.getText())) return undefined;
  return node.arguments.length === 0 ? 'skips without a reason' : undefined;
}

/** Rules that need the syntax, so that a string or a comment never trips them. */
export function checkSyntax(trees: Trees): string[] {
  const problems: string[] = [];
  for (const [file, tree] of trees) {
    for (const node of descendants(tree)) {
      const problem = syntaxProblem(file, node) ?? skipProblem(node);
      if (problem !== undefined) problems.push(`${place(file, tree, node)}: ${problem}`);
    }
  }
  return problems;
}

const SPOKEN = /^(label|title|placeholder|alt|text|hint|aria-label)$/;

function literalWords(node: ast.Node): string | undefined {
  if (ast.isJsxText(node)) return node.text.trim();
  if (!ast.isJsxAttribute(node) || !SPOKEN.test(node.name.getText())) return undefined;
  return node.initializer && ast.isStringLiteral(node.initializer) ? node.initializer.text : undefined;
}

/** Words that people read are in the catalogue of the console, from which they can be translated. */
export function checkCatalogue(trees: Trees): string[] {
  const problems: string[] = [];
  for (const [file, tree] of trees)
    for (const node of descendants(tree)) {
      const text = literalWords(node);
      if (text !== undefined && /\p{L}/u.test(text))
        problems.push(`${place(file, tree, node)}: "${text}" belongs into text/words.ts`);
    }
  return problems;
}

/** Every package is named on the page that explains the house. */
export function checkArchitecture(rooms: readonly string[], page: string): string[] {
  return rooms
    .filter((room) => !page.includes(`packages/${room}`))
    .map((room) => `packages/${room}: not mentioned in ARCHITECTURE.md`);
}
