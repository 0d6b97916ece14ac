import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { type Files, isCode } from './files.ts';

export type Trees = ReadonlyMap<string, SourceFile>;

// Syntax is all the rules need: without libraries and module resolution a parse takes a third of the time.
const COMPILER_OPTIONS = {
  noLib: true,
  noResolve: true,
  types: [],
  allowJs: true,
  module: 'nodenext',
  target: 'esnext',
  allowImportingTsExtensions: true,
  noEmit: true,
};

// One compiler process serves all parses and ends with this process; each parse is a folder of its own.
const texts = new Map<string, string>();
const compiler = new API({
  cwd: '/',
  fs: { readFile: (name) => texts.get(name) ?? null, fileExists: (name) => texts.has(name) },
});
let parses = 0;

/** Parses code with the compiler's own parser; the files need not exist on disk. */
export function parse(files: Files): Trees {
  const folder = `/parse-${parses++}`;
  const names = [...files.keys()].filter(isCode);
  for (const name of names) texts.set(`${folder}/${name}`, files.get(name) ?? '');
  const config = `${folder}/tsconfig.json`;
  texts.set(config, JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: names }));
  const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
  return new Map(
    names.map((name) => {
      const tree = project?.program.getSourceFile(`${folder}/${name}`);
      if (!tree) throw new Error(`the compiler did not parse ${name}`);
      return [name, tree];
    }),
  );
}

const below = new WeakMap<Node, readonly Node[]>();

/** Every node below (and including) `node`, parents first. All rules ask for those of the same trees. */
export function descendants(node: Node): readonly Node[] {
  const known = below.get(node);
  if (known) return known;
  const found: Node[] = [];
  const visit = (each: Node): void => {
    found.push(each);
    each.forEachChild(visit);
  };
  visit(node);
  below.set(node, found);
  return found;
}

export const lineOf = (tree: SourceFile, position: number): number =>
  tree.getLineAndCharacterOfPosition(position).line + 1;

/** `file:line`, the form that editors and terminals open. */
export const place = (file: string, tree: SourceFile, node: Node): string =>
  `${file}:${lineOf(tree, node.getStart(tree))}`;
