/**
 * Reads a secret: piped in, from a file or a variable, or typed without echo. Never an argument, which other
 * users can see.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Call, option } from './command.ts';
import { UsageError } from './io.ts';

export const SECRET_OPTIONS = {
  'from-file': option('PATH', 'read the value from a file'),
  'from-env': option('NAME', 'read the value from a variable of this shell'),
} as const;

const withoutBreak = (text: string): string => text.replace(/\r?\n$/, '');

export async function readSecret({ args, io }: Call): Promise<string> {
  const { 'from-file': file, 'from-env': variable } = args.given('from-file', 'from-env');
  if (file !== undefined && variable !== undefined)
    throw new UsageError('Use one of --from-file and --from-env.');
  const value = withoutBreak(await given());
  if (value === '') throw new UsageError(`The value is empty. ${HOW}`);
  return value;

  async function given(): Promise<string> {
    if (variable !== undefined) return io.env[variable] ?? '';
    if (file !== undefined)
      return readFile(path.resolve(io.cwd, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw new UsageError(`Cannot read ${file} (${error.code}). Check the path.`);
      });
    if (!io.stdin.isTTY) return io.stdin.read();
    return (await io.stdin.ask('Value (not shown): ', io.signal, { hidden: true })) ?? '';
  }
}

const HOW = 'Pipe it in, type it when asked, or use --from-file PATH or --from-env NAME.';
