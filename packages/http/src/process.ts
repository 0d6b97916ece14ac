/** Runs a server as a process: start, print the address, drain on SIGTERM. */
import { inspect } from 'node:util';
import { SettingsError } from './setting-readers.ts';

export interface ServedProcess {
  start(): Promise<string>;
  stop(): Promise<void>;
  /** Called after the greeting was printed. */
  greeted?(): Promise<void>;
  /** Resolves when the server can no longer work; the process then stops. */
  readonly failed?: Promise<Error>;
}

/** Since the process started. */
export const unhandledRejections = { count: 0 };

/** A bug, but only in one operation: the others continue. Node would end the process. */
function reportRejections(name: string): void {
  process.on('unhandledRejection', (reason) => {
    unhandledRejections.count++;
    process.stderr.write(
      `${name}: a rejected promise was not handled; please report this: ${inspect(reason)}\n`,
    );
  });
}

export interface ServerProcess<Server extends ServedProcess> {
  /** The prefix of messages on stderr. */
  readonly name: string;
  /** The output of `--help`. */
  readonly usage: () => string;
  readonly create: () => Promise<Server>;
  readonly greet: (server: Server, url: string) => readonly string[] | Promise<readonly string[]>;
}

/** Exit codes: 1 the server could not start or continue, 2 a setting is wrong. */
export async function runServerProcess<Server extends ServedProcess>({
  name,
  usage,
  create,
  greet,
}: ServerProcess<Server>): Promise<void> {
  const fail = (error: unknown): never => {
    process.stderr.write(`${name}: ${textOf(error)}\n`);
    process.exit(error instanceof SettingsError ? 2 : 1);
  };
  reportRejections(name);
  if (process.argv.includes('--help')) return print([usage()]);
  try {
    const server = await create();
    let onSignal = (): void => stop(() => process.exit(0));
    const stop = (end: () => never): void => {
      // A launcher may forward a signal that the group also gets; without a listener the second would kill
      onSignal = () => {};
      setTimeout(() => {
        onSignal = () => fail(new Error('ended by a second signal before everything was stopped'));
        process.stderr.write(`${name}: still stopping; Ctrl-C again ends it at once\n`);
      }, FORCE_AFTER_MS).unref();
      setTimeout(
        fail,
        STOP_MS_MAX,
        new Error(`did not stop within ${STOP_MS_MAX / 1_000} s; ending now`),
      ).unref();
      void server.stop().then(end, fail);
    };
    void server.failed?.then((why) => {
      process.stderr.write(`${name}: ${why.message}; stopping\n`);
      stop(() => process.exit(1));
    });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => onSignal());
    await print(await greet(server, await server.start()));
    await server.greeted?.();
  } catch (error) {
    fail(error);
  }
}

/** Resolves when the text was written. */
const print = (lines: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) =>
    process.stdout.write(`${lines.join('\n')}\n`, (error) => (error ? reject(error) : resolve())),
  );

/** Why a server cannot listen. */
const LISTEN: Readonly<Record<string, (port: unknown, address: unknown) => string>> = {
  EADDRINUSE: (port) => `port ${port} is in use. Choose another with --port, or 0 for any free one.`,
  EADDRNOTAVAIL: (_, address) => `${address} is not an address of this machine. Choose another with --host.`,
  EACCES: (port) => `this user may not listen on port ${port}. Choose one from 1024 on with --port.`,
};

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, code, port, address } = error as NodeJS.ErrnoException & {
    port?: unknown;
    address?: unknown;
  };
  const text = syscall === 'listen' ? LISTEN[code ?? '']?.(port, address) : undefined;
  return text ?? error.message;
}

/** A second signal within this time is the first one, forwarded. */
const FORCE_AFTER_MS = 1_000;
/** Work that is not on disk by then is as after a crash: clients without an answer retry. */
const STOP_MS_MAX = 20_000;
/** Work that takes longer to end is cut off: its client retries. */
const DRAIN_MS = 10_000;

/** Waits for `work`, at most `DRAIN_MS`. */
export async function drained(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
