import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Command, option } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** A server of Gantry's in the foreground: it gets our signals, and its exit code becomes ours. */
export function runServer(script: string, words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [script, ...words], { stdio: 'inherit' });
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // A terminal has already sent Ctrl-C to the child; a second one would cut its drain short.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  return new Promise((resolve) => {
    child.on('error', () => resolve(EXIT.error));
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** The host stands above the CLI: it is started, never imported. */
function hostMain(): string {
  try {
    return fileURLToPath(new URL('../bin/start.mjs', import.meta.resolve('@gantry/host')));
  } catch {
    throw new UsageError(
      'The host is not installed here. Install Gantry whole, or use --url with another host.',
    );
  }
}

export const start: Command = {
  name: 'start',
  summary: 'start the host here',
  usage: 'start [--port N] [--data DIR] [--workflows DIR] ...',
  details: 'Flags go to the host as they are. Ctrl-C or SIGTERM drains and stops it.',
  options: {
    host: option('ADDRESS', 'address to listen on (GANTRY_HOST; 127.0.0.1)'),
    port: option('N', 'port, 0 for any free one (GANTRY_PORT; 7070)'),
    data: option('DIR', 'where everything durable lives (GANTRY_DATA_DIR; ./.gantry)'),
    database: option('URL', 'postgres://... instead of SQLite (GANTRY_DATABASE_URL)'),
    workflows: option('DIR', 'definitions loaded at start (GANTRY_WORKFLOWS_DIR; ./workflows)'),
    log: option('LEVEL', 'debug, info, warn, error or silent (GANTRY_LOG; info)'),
  },
  examples: ['gantry start', 'gantry start --port 8080 --data /var/lib/gantry'],
  words: 'passthrough',
  run: async ({ args }) => runServer(hostMain(), args.words),
};
