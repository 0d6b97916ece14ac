import type { Metafile } from 'esbuild';

export function buildConsole(options?: {
  folder?: string;
  entries?: Readonly<Record<string, string>>;
}): Promise<{ files: string[]; metafile: Metafile }>;
export function buildIfChanged(): Promise<void>;
