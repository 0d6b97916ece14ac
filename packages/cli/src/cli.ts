import { readFileSync } from 'node:fs';
import { ApiError, createClient } from '@gantry/client';
import { didYouMean } from '@gantry/protocol';
import { readArgs, splitCommand } from './args.ts';
import { COMMON_OPTIONS, type Command } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { commandHelp, overview } from './help.ts';
import { EXIT, type Io, UsageError } from './io.ts';
import { readSettings } from './settings.ts';
import { printable, styleFor } from './style.ts';

const version = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Runs one command line and returns its exit code; never throws. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    return report(error, io, asksForJson(argv));
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const { name, rest } = splitCommand(argv);
  if (name === undefined) return withoutCommand(rest, io);
  if (name === 'help') return help(rest[0], io);
  const command = commandNamed(name, argv[0]);
  if (rest.includes('--help') || rest.includes('-h')) return help(name, io);
  const args = readArgs(command, rest);
  const settings = readSettings(args, io);
  const exitCode = await command.run({
    args,
    io,
    settings,
    style: styleFor(io),
    get client() {
      return createClient({
        baseUrl: settings.url,
        fetch: withWarnings(interruptible(io.signal), io),
        ...(settings.apiKey !== undefined && { apiKey: settings.apiKey }),
      });
    },
  });
  return exitCode ?? EXIT.ok;
}

/** Ctrl-C aborts the running call. */
const interruptible =
  (signal: AbortSignal): typeof fetch =>
  (url, init) =>
    fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });

/** Prints the warnings of the host about a request. */
const withWarnings =
  (send: typeof fetch, { stderr }: Io): typeof fetch =>
  async (url, init) => {
    const response = await send(url, init);
    const warning = response.headers.get('gantry-warning');
    if (warning !== null) stderr.write(`Warning: ${printable(warning)}\n`);
    return response;
  };

function withoutCommand(rest: readonly string[], io: Io): number {
  if (rest.includes('--version')) {
    io.stdout.write(`${version()}\n`);
    return EXIT.ok;
  }
  const asked = rest.includes('--help') || rest.includes('-h');
  if (rest.length > 0 && !asked) throw new UsageError('A command is missing. See `gantry help`.');
  (asked ? io.stdout : io.stderr).write(overview(COMMANDS, version()));
  return asked ? EXIT.ok : EXIT.error;
}

function help(name: string | undefined, io: Io): number {
  io.stdout.write(name === undefined ? overview(COMMANDS, version()) : commandHelp(commandNamed(name)));
  return EXIT.ok;
}

/** `first` is the first word of the line. If it is an unknown flag, that flag is reported, not the word after it. */
function commandNamed(name: string, first = ''): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found) return found;
  const [, flag = 'help'] = /^--?([^=]+)/.exec(first) ?? [];
  if (!Object.hasOwn(COMMON_OPTIONS, flag))
    throw new UsageError(
      `Unknown option ${first}.${didYouMean(flag, Object.keys(COMMON_OPTIONS), '--') || ' See `gantry help`.'}`,
    );
  const names = [...COMMANDS.map((command) => command.name), 'help'];
  throw new UsageError(`Unknown command "${name}".${didYouMean(name, names) || ' See `gantry help`.'}`);
}

/** `--json` is a flag of most commands; for others it has a value. */
function asksForJson(argv: readonly string[]): boolean {
  const { name, rest } = splitCommand(argv);
  const command = COMMANDS.find((each) => each.name === name);
  return command?.options.json?.type === 'boolean' && rest.includes('--json');
}

/** Scripts read the code from the last line of stderr; stdout contains only results. */
function reportJson(error: unknown, io: Io): number {
  const isKnown = error instanceof ApiError || error instanceof UsageError;
  const { code, details } = isKnown ? error : { code: 'failed' };
  const message = `${textOf(error)}${nextStep(error)}`;
  io.stderr.write(`${JSON.stringify({ error: code, message, ...(details && { details }) })}\n`);
  return EXIT.error;
}

function report(error: unknown, io: Io, asJson: boolean): number {
  if (io.signal.aborted) return EXIT.interrupted;
  if (asJson) return reportJson(error, io);
  io.stderr.write(`gantry: ${textOf(error)}${nextStep(error)}\n`);
  const { retriable: _, ...details } = (error instanceof ApiError && error.details) || {};
  if (Object.keys(details).length > 0) io.stderr.write(`${JSON.stringify(details, null, 2)}\n`);
  return EXIT.error;
}

/** Our own messages may have several lines; others are printed on one line. */
function textOf(error: unknown): string {
  if (error instanceof UsageError) return error.message.split('\n').map(printable).join('\n');
  return printable(error instanceof Error ? error.message : String(error));
}

/** The next step that only the command line knows. */
function nextStep(error: unknown): string {
  if (!(error instanceof ApiError)) return '';
  if (error.status === 0) return '\nName another host with --url or GANTRY_URL.';
  if (error.status === 401)
    return '\nPass a key with GANTRY_API_KEY or --key; the host printed one at its first start. Lost it? `gantry help keys`.';
  if (error.status === 403)
    return '\nUse a key with the scope this needs: `gantry keys create NAME --scopes ...`.';
  if (error.retryAfterMs) return `\nTry again in ${Math.ceil(error.retryAfterMs / 1000)} s.`;
  return '';
}
