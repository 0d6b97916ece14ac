/** Generates the capability page from the literals. */
import type { TSchema } from 'typebox';
import type { MethodLiteral, SurfaceLiteral } from '../calls/define-surface.ts';
import type { Spelling } from '../calls/spelling.ts';
import type { Written } from './type-text.ts';

export const CAPABILITY_PAGE = new URL('../../../../docs/capabilities.md', import.meta.url);

const HEAD = `# Host capabilities

What this host offers to the code of packs, beside its sandbox. A pack names what it needs under \`peerDependencies\`, as \`kvStorage\` or \`host.kvStorage\`; a pack that needs what the host lacks is not installed. One that names some of them may call those, and others that it is granted; one that names none is asked to be granted those that its code calls. What a pack may not call is absent from its \`ctx\`. The host says under the same names in \`/.well-known/openwop\` what it has.

Every method takes one object. Whom a call is for comes from the run: no argument can name another tenant.

- A **read** changes nothing. A node that is declared pure may only read.
- A **write** or an **effect** happens once for each position in its node. When a node runs again, after a crash, a suspension or a retry, it gets the answers that it got before instead of acting twice. So it has to make the same calls of each capability in the same order: a call of another method in the same place is refused with \`idempotency_key_mismatch\`. The input may be another, such as a time or a random id: the recorded answer counts, and a warning is written to the log of the run. Its reads answer what they answered before, up to the last write that it had made (JSON answers, up to 256 KiB between two writes and 4 MiB in all; others, and all later ones, see what is there now).
- A replay runs no pack code, and so calls nothing. A branch is another run, and its calls are its own.

Every method can answer \`host_capability_missing\` (see \`details.capability\`), \`validation_error\`, \`sandbox_capability_denied\` (a pure node wrote, or the pack neither names this capability nor was granted it) and \`storage_unavailable\`.
`;

export function capabilityPage(surfaces: readonly SurfaceLiteral[]): string {
  return `${[HEAD, ...surfaces.map(section)].join('\n').trimEnd()}\n`;
}

function section(surface: SurfaceLiteral): string {
  const { capability, aliases = [], path, summary, methods, errors } = surface;
  const names = [`host.${capability}`, ...aliases].map(code).join(', ');
  return `## ${capability}

${summary} In \`${path === '' ? 'ctx' : `ctx.${path}`}\`; also known as ${names}.

${table(['method', 'kind', 'takes', 'answers', ''], Object.entries(methods).map(methodRow))}
${bounds(surface)}
Failures: ${errors.map(code).join(', ')}.
${spellings(surface.spellings ?? [])}`;
}

const methodRow = ([name, method]: [string, MethodLiteral]): string[] => [
  code(name),
  method.kind === 'stream' ? `${method.effect}, stream` : method.effect,
  method.kind === 'response' ? code(`(${method.positional?.join(', ')})`) : code(shape(method.input)),
  method.kind === 'response' ? code('Response') : code(shape(method.output)),
  method.needs === undefined ? method.summary : `${method.summary} Needs ${code(method.needs)}.`,
];

function bounds({ limits, options = {} }: SurfaceLiteral): string {
  const rows = [
    ...Object.entries(limits).map(([name, value]) => [code(name), value.toLocaleString('en-GB'), '']),
    ...Object.entries(options).map(([name, { summary, advertises }]) => [
      Object.keys(advertises).map(code).join(', ') || code(name),
      'optional',
      summary,
    ]),
  ];
  return rows.length === 0 ? '' : `\n${table(['advertised as', '', ''], rows)}`;
}

function spellings(own: readonly Spelling[]): string {
  if (own.length === 0) return '';
  return `
Published packs also spell it so:

${table(['call', 'means', 'takes', 'answers'], own.map(spellingRow))}`;
}

const spellingRow = ({ path, when, to, takes = [], gives = [] }: Spelling): string[] => [
  when === undefined ? code(`ctx.${path}`) : `${code(`ctx.${path}`)} with ${code(when)}`,
  code(to.slice(to.indexOf('.') + 1)),
  takes.map(({ says }) => says).join('; '),
  gives.map(({ says }) => says).join('; '),
];

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** `{ key: string, limit?: integer }` */
function shape(schema: TSchema): string {
  const written = schema as Written;
  const { type, enum: choices, properties, required, items, anyOf, description } = written;
  if (written.const !== undefined) return JSON.stringify(written.const);
  if (choices) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (anyOf) return anyOf.map(shape).join(' | ');
  if (items) return `${shape(items)}[]`;
  if (!properties) return type ?? description ?? 'anything';
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required?.includes(name) ? '' : '?'}: ${shape(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
