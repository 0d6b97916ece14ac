/** Writes JSON as lines that people read: what an approval is about, on pages, in lists and in explanations. */
import type { InterruptVote } from './interrupt.ts';
import type { Json } from './json.ts';

const LINES_MAX = 200;
const DEPTH_MAX = 8;

/** `name: value` for each member, a dash for each item; members of members are indented. */
export function wordsOf(value: Json): string[] {
  const lines: string[] = [];
  write(lines, value, '', 0);
  return lines.length <= LINES_MAX
    ? lines
    : [...lines.slice(0, LINES_MAX), `… (${lines.length - LINES_MAX} lines more)`];
}

function write(lines: string[], value: Json, indent: string, depth: number): void {
  if (depth > DEPTH_MAX || !isNested(value)) {
    for (const line of plain(value).split('\n')) lines.push(`${indent}${line}`);
    return;
  }
  const entries = Array.isArray(value)
    ? value.map((item) => ['-', item] as const)
    : Object.entries(value).map(([name, member]) => [`${name}:`, member] as const);
  for (const [label, member] of entries) {
    const isBlock = isNested(member) || (typeof member === 'string' && member.includes('\n'));
    if (!isBlock) lines.push(`${indent}${label} ${plain(member)}`);
    else if (label === '-') {
      const first = lines.length;
      write(lines, member, `${indent}  `, depth + 1);
      lines[first] = `${indent}- ${lines[first]!.trimStart()}`;
    } else {
      lines.push(`${indent}${label}`);
      write(lines, member, `${indent}  `, depth + 1);
    }
  }
}

/** A vote and the comment of its voter. */
export const voteInWords = ({ voter, approve, comment }: InterruptVote): string =>
  `${voter} ${approve ? 'approves' : 'rejects'}${comment === undefined ? '' : ` ("${comment}")`}`;

const isNested = (value: Json): value is Json[] | { [name: string]: Json } =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function plain(value: Json): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (typeof value === 'number') return String(value);
  return isNested(value) ? JSON.stringify(value) : '(empty)';
}
