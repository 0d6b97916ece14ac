import path from 'node:path';
import * as ast from 'typescript/unstable/ast';
import { isTestCode } from './files.ts';
import { descendants, place, type Trees } from './syntax.ts';

/** What may be imported, and why. `node:*` stands for every built-in. */
export type AllowList = Readonly<Record<string, string>>;
export interface Room {
  readonly source: AllowList;
  /** What tests and contract suites may import beside that. */
  readonly tests: AllowList;
}
export type House = Readonly<Record<string, Room>>;

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const roomOf = (file: string): string | undefined => /^packages\/([^/]+)\//.exec(file)?.[1];

/** `@scope/name/deep` and `name/deep` are installed as `@scope/name` and `name`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const isAllowed = (specifier: string, list: AllowList): boolean =>
  specifier.startsWith('node:')
    ? 'node:*' in list || specifier in list
    : specifier in list || packageOf(specifier) in list;

/** The module a node names: `import`, `export from`, `import()`, `require()`, or `import('x')` as a type. */
function importedBy(node: ast.Node): ast.Node | undefined {
  if (ast.isImportDeclaration(node) || ast.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ast.isImportTypeNode(node)) return node.argument;
  if (!ast.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const loads = callee.kind === ast.SyntaxKind.ImportKeyword || callee.getText() === 'require';
  return loads ? (node.arguments[0] ?? node) : undefined;
}

/** The text of a string literal (as a type too); undefined for a name that is computed. */
function literalText(node: ast.Node): string | undefined {
  const literal = ast.isLiteralTypeNode(node) ? node.literal : node;
  return ast.isStringLiteral(literal) || ast.isNoSubstitutionTemplateLiteral(literal)
    ? literal.text
    : undefined;
}

/**
 * May import what is computed: the command line starts servers in its own process, and knows only their files; both
 * launchers load the bundle of TypeBox where it was made.
 */
const COMPUTED: ReadonlySet<string> = new Set([
  'packages/cli/src/commands/start.ts',
  'packages/cli/bin/gantry.js',
  'packages/http/bin/start-server.mjs',
]);

export interface Import {
  readonly file: string;
  readonly place: string;
  /** Undefined when it is computed. */
  readonly specifier: string | undefined;
}

export function importsOf(trees: Trees): Import[] {
  const found: Import[] = [];
  for (const [file, tree] of trees) {
    for (const node of descendants(tree)) {
      const specifier = importedBy(node);
      if (specifier) found.push({ file, place: place(file, tree, node), specifier: literalText(specifier) });
    }
  }
  return found;
}

/**
 * A relative import stays in its package. Only tests may borrow the test helpers of one they may import, and use the
 * scripts of the project.
 */
function relativeProblem(file: string, specifier: string, room: string, lists: Room): string | undefined {
  const target = path.posix.join(path.posix.dirname(file), specifier);
  const forTests = isTestCode(target);
  if (isTestCode(file) && target.startsWith('scripts/')) return undefined;
  if (roomOf(target) === room)
    return forTests && !isTestCode(file) ? `ships test code: ${specifier}` : undefined;
  const owner = `@gantry/${roomOf(target)}`;
  const borrows = isTestCode(file) && forTests && (owner in lists.source || owner in lists.tests);
  return borrows ? undefined : `reaches out of its package with ${specifier}; use the name of the package`;
}

function importProblem({ file, specifier }: Import, room: string, lists: Room): string | undefined {
  const inTest = isTestCode(file);
  if (specifier === undefined)
    return inTest || COMPUTED.has(file) ? undefined : 'imports a computed name, which no rule can follow';
  if (specifier.startsWith('.')) return relativeProblem(file, specifier, room, lists);
  if (isAllowed(specifier, lists.source)) return undefined;
  if (inTest && isAllowed(specifier, lists.tests)) return undefined;
  return `${inTest ? 'tests of ' : ''}packages/${room} may not import ${specifier}`;
}

export function checkImports(trees: Trees, house: House): string[] {
  return importsOf(trees).flatMap((found) => {
    const room = roomOf(found.file);
    if (room === undefined) return [];
    const lists = house[room];
    const problem = lists
      ? importProblem(found, room, lists)
      : `packages/${room} has no entry in the import rules`;
    return problem === undefined ? [] : [`${found.place}: ${problem}`];
  });
}

/** Manifests name what the allow-list lets in, and sources import only what their manifest names. */
export function checkManifests(
  manifests: ReadonlyMap<string, Manifest>,
  trees: Trees,
  house: House,
): string[] {
  const problems: string[] = [];
  for (const [room, manifest] of manifests) {
    const lists = house[room] ?? { source: {}, tests: {} };
    const file = `packages/${room}/package.json`;
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (!(name in lists.source)) problems.push(`${file}: dependency ${name} is not on the allow-list`);
    }
    for (const name of Object.keys(manifest.devDependencies ?? {})) {
      if (!(name in lists.source) && !(name in lists.tests))
        problems.push(`${file}: devDependency ${name} is not on the allow-list`);
    }
  }
  for (const { file, place: where, specifier } of importsOf(trees)) {
    const room = roomOf(file);
    if (!room || !specifier || isTestCode(file) || /^(node:|\.)/.test(specifier)) continue;
    const name = packageOf(specifier);
    if (!(name in (manifests.get(room)?.dependencies ?? {})))
      problems.push(`${where}: ${name} is missing in the dependencies of packages/${room}`);
  }
  return problems;
}
