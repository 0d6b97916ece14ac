/** The node types that a pack's code really offers. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type ModuleExports =
  | { readonly kind: 'types'; readonly typeIds: readonly string[] }
  | { readonly kind: 'broken'; readonly message: string; readonly line: number; readonly column: number }
  /** No program on this machine could load it. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface PackModule {
  readonly folder: string;
  /** Path inside the folder. */
  readonly file: string;
  readonly language: 'javascript' | 'wasm' | 'python';
}

const LIST_TYPES = new URL('list-types.mjs', import.meta.url);
const LOAD_MS = 10_000;
const OUTPUT_BYTES = 1_048_576;

const lister = JSON.stringify(LIST_TYPES.href);
/** The lister is loaded first, so that it holds its own references when the pack's code starts. */
const PROGRAMS: Readonly<Record<Exclude<PackModule['language'], 'python'>, (url: string) => string>> = {
  javascript: (url) =>
    `import { tellJavaScript } from ${lister}; import * as pack from ${url}; tellJavaScript(pack);`,
  wasm: (url) => `import { tellWasm } from ${lister}; tellWasm(${url});`,
};

/**
 * Loads the module in a process that can only read the pack's folder. This is the author's own code:
 * untrusted code needs the host's sandbox.
 */
export async function moduleExports({ folder, file, language }: PackModule): Promise<ModuleExports> {
  const mark = `${crypto.randomUUID()}:`;
  if (language === 'python') return pythonExports(folder, file, mark);
  const url = pathToFileURL(path.join(folder, file)).href;
  const readable = [folder, fileURLToPath(LIST_TYPES)].map((allowed) => `--allow-fs-read=${allowed}`);
  const program = ['--input-type=module', '--eval', PROGRAMS[language](JSON.stringify(url)), mark];
  const { stdout, stderr } = await load(process.execPath, ['--permission', ...readable, ...program]);
  return typesIn(stdout, mark) ?? { kind: 'broken', ...failureIn(stderr, path.posix.basename(file)) };
}

const LIST_PYTHON = fileURLToPath(new URL('list-types.py', import.meta.url));

/** Isolated from packages of the author that a host does not have, and without writing to the folder. */
async function pythonExports(folder: string, file: string, mark: string): Promise<ModuleExports> {
  const args = ['-I', '-S', '-B', LIST_PYTHON, folder, file, mark];
  const { stdout, stderr, isMissing } = await load('python3', args, { PATH: process.env.PATH });
  if (isMissing)
    return { kind: 'unknown', message: 'python3 was not found here, so the code was not checked.' };
  return typesIn(stdout, mark) ?? { kind: 'broken', ...pythonFailureIn(stderr, path.posix.basename(file)) };
}

function typesIn(stdout: string, mark: string): ModuleExports | undefined {
  const at = stdout.lastIndexOf(mark);
  return at < 0 ? undefined : { kind: 'types', typeIds: JSON.parse(stdout.slice(at + mark.length)) };
}

interface Loaded {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the program that should load it is missing. */
  readonly isMissing: boolean;
}

const load = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Loaded> =>
  new Promise((resolve) => {
    const options = { env, timeout: LOAD_MS, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES } as const;
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ stdout, stderr, isMissing: error?.code === 'ENOENT' }),
    );
  });

/** The last frame in the file is the location of the failure; the last line is the message. */
function pythonFailureIn(stderr: string, file: string): { message: string; line: number; column: number } {
  const message = stderr.match(/^\w*(?:Error|Exception|Interrupt|Exit)\b.*$/gm)?.at(-1);
  const [, line = '1'] =
    [...stderr.matchAll(/^ *File "(.*)", line (\d+)/gm)]
      .findLast(([, at = '']) => at.endsWith(`/${file}`))
      ?.slice(1) ?? [];
  return { message: message ?? 'It failed to load, or took too long.', line: Number(line), column: 1 };
}

/** Node prints the location of a failure: `…/index.mjs:2` and a caret for syntax, `…/index.mjs:2:9` in stacks. */
function failureIn(stderr: string, file: string): { message: string; line: number; column: number } {
  const message = /^\w*Error\b.*$/m.exec(stderr)?.[0] ?? 'It failed to load, or took too long.';
  const at = stderr.indexOf(`/${file}:`);
  const rest = at < 0 ? '' : stderr.slice(at + file.length + 1);
  const [, line = '1', column] = /^:(\d+)(?::(\d+))?/.exec(rest) ?? [];
  const caret = /^:\d+\n.*\n( *)\^/.exec(rest)?.[1]?.length ?? 0;
  return { message, line: Number(line), column: column === undefined ? caret + 1 : Number(column) };
}
