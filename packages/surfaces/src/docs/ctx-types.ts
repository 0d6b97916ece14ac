/** Types of `ctx` for pack authors: the common part, and the surfaces from their literals. */
import { readFileSync } from 'node:fs';
import type { MethodLiteral, SurfaceLiteral } from '../calls/define-surface.ts';
import { typeText } from './type-text.ts';

/** Written by hand and read as text: a declaration file cannot be imported. */
const BASE = new URL('ctx-base.d.ts', import.meta.url);

const HEAD = `// What a node is called with, for editors and type checkers; an archive of the pack leaves it out.
// Above a function: /** @param {import('./ctx.d.mts').Ctx<{ name: string }>} ctx */
`;

export function ctxTypes(surfaces: readonly SurfaceLiteral[]): string {
  const base = readFileSync(BASE, 'utf8');
  return [HEAD, base, ...surfaces.map(surfaceText), ctxText(surfaces)].join('\n');
}

const typeName = ({ capability }: SurfaceLiteral): string =>
  capability.charAt(0).toUpperCase() + capability.slice(1);

function surfaceText(surface: SurfaceLiteral): string {
  const { capability, path, summary, limits, errors, methods } = surface;
  const bounds = Object.entries(limits).map(([name, value]) => `${name} ${value.toLocaleString('en-GB')}`);
  const doc = [
    `\`ctx.${path}\`: ${summary}`,
    '',
    `Named \`host.${capability}\` in peerDependencies.`,
    ...(bounds.length === 0 ? [] : [`Limits: ${bounds.join(', ')}.`]),
    `Failures: ${errors.join(', ')}.`,
  ];
  const members = Object.entries(methods).map(([name, method]) => [name, methodText(method)] as const);
  return `${docText(doc, '')}export interface ${typeName(surface)} ${treeText(members, '')}\n`;
}

const ctxText = (surfaces: readonly SurfaceLiteral[]): string =>
  `export interface Ctx<Inputs = JsonObject, Config = JsonObject> extends NodeCtx<Inputs, Config> ${treeText(
    surfaces.flatMap(membersIn),
    '',
  )}\n`;

/** Members of a surface without a path are at the root. */
const membersIn = (surface: SurfaceLiteral): (readonly [path: string, member: Member])[] =>
  surface.path === ''
    ? Object.keys(surface.methods).map((name) => [name, () => `: ${typeName(surface)}['${name}']`])
    : [[surface.path, () => `: ${typeName(surface)}`]];

const WIDTH = 110;

/** On one line if it fits. */
function docText(paragraphs: readonly string[], indent: string): string {
  const [first = '', ...others] = paragraphs;
  const line = `${indent}/** ${first} */`;
  if (others.length === 0 && line.length <= WIDTH) return `${line}\n`;
  const body = paragraphs.flatMap((text) => wrapped(text, WIDTH - indent.length - 3));
  return `${indent}/**\n${body.map((text) => `${indent} * ${text}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The text after the name of a member, for a line with this indent and name. Methods include their doc comment. */
type Member = ((before: { readonly indent: string; readonly name: string }) => string) & {
  readonly doc?: string;
};

const KINDS = { read: 'Reads.', write: 'Writes: not in a pure node.', effect: 'Acts: not in a pure node.' };

/** Matches the project's formatter: if a method is too long for one line, its argument is split. */
const INLINE_MAX = 80;

function methodText({ input, output, kind, effect, summary, needs, positional }: MethodLiteral): Member {
  const answers = kind === 'stream' ? 'AsyncIterable' : 'Promise';
  const given = positional && kind !== 'response' ? ` Also as (${positional.join(', ')}).` : '';
  const doc = `${summary} ${KINDS[effect]}${needs === undefined ? '' : ` Needs \`${needs}\`.`}${given}`;
  const member: Member = ({ indent, name }) => {
    if (kind === 'response') return '(url: string | URL, init?: RequestInit): Promise<Response>';
    const answer = typeText(output, { indent, of: 'answer', inlineMax: INLINE_MAX });
    const text = (inlineMax: number) =>
      `(input: ${typeText(input, { indent, of: 'input', inlineMax })}): ${answers}<${answer}>`;
    const [first = ''] = text(INLINE_MAX).split('\n');
    return text(indent.length + name.length + first.length < WIDTH ? INLINE_MAX : 0);
  };
  return Object.assign(member, { doc });
}

/** `image.resize` is the member `resize` of the member `image`. */
function treeText(members: readonly (readonly [path: string, member: Member])[], indent: string): string {
  const inner = `${indent}  `;
  const groups = Map.groupBy(members, ([path]) => path.split('.')[0] ?? path);
  const text = [...groups].map(([name, group]) => {
    const own = group.find(([path]) => path === name)?.[1];
    const rest = group.map(([path, member]) => [path.slice(name.length + 1), member] as const);
    const type = own ? own({ indent: inner, name }) : `: ${treeText(rest, inner)}`;
    const before = own?.doc === undefined ? `${inner}readonly ` : `${docText([own.doc], inner)}${inner}`;
    return `${before}${name}${type};\n`;
  });
  return `{\n${text.join('')}${indent}}`;
}
