import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Command, option } from '../command.ts';
import { UsageError } from '../io.ts';

/** Runs a Gantry server in this process: no signals need to be forwarded, and no child can be left behind. */
export async function runServer(script: string, words: readonly string[]): Promise<never> {
  process.argv.splice(1, process.argv.length, script, ...words);
  await import(pathToFileURL(script).href);
  return new Promise(() => {});
}

/** The CLI knows only the path of the host's start script, and imports nothing of the host. */
function hostMain(): string {
  try {
    return fileURLToPath(new URL('../bin/start.mjs', import.meta.resolve('@gantry/host')));
  } catch {
    throw new UsageError(
      'The host is not installed here. Install the complete Gantry package, or use --url with another host.',
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
    data: option('DIR', 'data folder (GANTRY_DATA_DIR; ./.gantry)'),
    database: option('URL', 'postgres://... instead of SQLite (GANTRY_DATABASE_URL)'),
    workflows: option('DIR', 'definitions loaded at start (GANTRY_WORKFLOWS_DIR; ./workflows)'),
    log: option('LEVEL', 'trace, debug, info, warn, error, fatal or silent (GANTRY_LOG; info)'),
  },
  examples: ['gantry start', 'gantry start --port 8080 --data /var/lib/gantry'],
  words: 'passthrough',
  run: async ({ args }) => runServer(hostMain(), args.words),
};
