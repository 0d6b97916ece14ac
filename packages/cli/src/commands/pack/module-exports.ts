/** Which node types a pack's code really offers. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type ModuleExports =
  | { readonly kind: 'types'; readonly typeIds: readonly string[] }
  | { readonly kind: 'broken'; readonly message: string; readonly line: number; readonly column: number };

export interface PackModule {
  readonly folder: string;
  /** Path inside the folder. */
  readonly file: string;
  readonly language: 'javascript' | 'wasm';
}

const LIST_TYPES = new URL('list-types.mjs', import.meta.url);
const LOAD_MS = 10_000;
const OUTPUT_BYTES = 1_048_576;

const lister = JSON.stringify(LIST_TYPES.href);
/** The lister comes first, so that it holds its own references when the pack's code begins. */
const PROGRAMS: Readonly<Record<PackModule['language'], (url: string) => string>> = {
  javascript: (url) =>
    `import { tellJavaScript } from ${lister}; import * as pack from ${url}; tellJavaScript(pack);`,
  wasm: (url) => `import { tellWasm } from ${lister}; tellWasm(${url});`,
};

/**
 * Loads the module in a process that can read the pack's folder and reach nothing else. It is the author's own
 * code: the host's sandbox is what holds code of strangers.
 */
export async function moduleExports({ folder, file, language }: PackModule): Promise<ModuleExports> {
  const mark = `${crypto.randomUUID()}:`;
  const url = pathToFileURL(path.join(folder, file)).href;
  const readable = [folder, fileURLToPath(LIST_TYPES)].map((allowed) => `--allow-fs-read=${allowed}`);
  const program = ['--input-type=module', '--eval', PROGRAMS[language](JSON.stringify(url)), mark];
  const { stdout, stderr } = await load(['--permission', ...readable, ...program]);
  const at = stdout.lastIndexOf(mark);
  if (at < 0) return { kind: 'broken', ...failureIn(stderr, path.posix.basename(file)) };
  const typeIds: string[] = JSON.parse(stdout.slice(at + mark.length));
  return { kind: 'types', typeIds };
}

const load = (args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const options = { env: {}, timeout: LOAD_MS, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES } as const;
    execFile(process.execPath, args, options, (_error, stdout, stderr) => resolve({ stdout, stderr }));
  });

/** Node prints where a module failed: `…/index.mjs:2` and a caret for syntax, `…/index.mjs:2:9` in stacks. */
function failureIn(stderr: string, file: string): { message: string; line: number; column: number } {
  const message = /^\w*Error\b.*$/m.exec(stderr)?.[0] ?? 'It failed to load, or took too long.';
  const at = stderr.indexOf(`/${file}:`);
  const rest = at < 0 ? '' : stderr.slice(at + file.length + 1);
  const [, line = '1', column] = /^:(\d+)(?::(\d+))?/.exec(rest) ?? [];
  const caret = /^:\d+\n.*\n( *)\^/.exec(rest)?.[1]?.length ?? 0;
  return { message, line: Number(line), column: column === undefined ? caret + 1 : Number(column) };
}
