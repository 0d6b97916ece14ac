import { stripVTControlCharacters, styleText } from 'node:util';
import type { Io } from './io.ts';

export type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';
export type Style = (colour: Colour, text: string) => string;

export const plain: Style = (_colour, text) => text;
export const coloured: Style = (colour, text) => styleText(colour, text, { validateStream: false });

/** Colour only on terminals, and never with NO_COLOR. */
export const styleFor = (io: Io): Style => (io.stdout.isTTY && !io.env.NO_COLOR ? coloured : plain);

/** Text from a run on one line, without characters that move the cursor or ring the bell. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
}

/** @example duration(61_500) // '1m 2s' */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
  return `${Math.round(minutes / 1440)}d`;
}

/** @example sizeOf(1_536) // '1.5 kB' */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999_950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Aligned columns under a heading. The last column is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ');
  return `${all.map(line).join('\n')}\n`;
}
