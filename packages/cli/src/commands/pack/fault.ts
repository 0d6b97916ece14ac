import path from 'node:path';
import type { Call } from '../../command.ts';
import { printable } from '../../style.ts';

/** A problem for the author, with its location. */
export interface Fault {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The pack has problems, which have been printed. */
export class FaultyPack extends Error {}

export const isError = ({ severity }: Fault): boolean => severity === 'error';

/** In the format of compilers, so that terminals and editors can jump to the position. */
export function printFaults({ io, style }: Call, folder: string, faults: readonly Fault[]): void {
  for (const { file, line, column, severity, message } of faults) {
    const position = `${path.relative(io.cwd, path.join(folder, file)) || file}:${line}:${column}`;
    const grade = style(severity === 'error' ? 'red' : 'yellow', severity);
    io.stdout.write(`${position}: ${grade}: ${printable(message)}\n`);
  }
}

export const countOf = (faults: readonly Fault[], severity: Fault['severity']): string => {
  const count = faults.filter((fault) => fault.severity === severity).length;
  return `${count} ${severity}${count === 1 ? '' : 's'}`;
};
