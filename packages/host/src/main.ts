import { adminKeyLine, openWarnings, runServerProcess } from '@gantry/http';
import { createHost, type Host } from './host.ts';
import { readSettings, settingWarnings, usage } from './settings.ts';
import { HOST_VERSION } from './version.ts';

async function greeting(host: Host, url: string): Promise<string[]> {
  tellSandbox(host);
  const { created: key } = host.adminKey;
  const lines = [`Gantry ${HOST_VERSION} is serving on ${url}`, ...adminKeyLine(host.adminKey, process.env)];
  lines.push(...(await consoleLines(host)));
  const sample = host.served.includes('hello') ? 'hello' : host.served[0];
  if (sample) {
    lines.push(
      'Run a workflow:',
      `  curl -s ${url}/v1/runs -H 'Authorization: Bearer ${key ?? '<your key>'}' -H 'Content-Type: application/json' -d '{"workflowId":"${sample}"}'`,
    );
  }
  return lines;
}

/** The check takes half a second of CPU time, so it runs after the first requests. */
const SANDBOX_LOOK_MS = 10_000;

/** Reports problems of the sandbox on this machine. */
function tellSandbox({ services }: Host): void {
  const look = async (): Promise<void> => {
    const { problems } = await services.packs.sandboxes.health();
    for (const { problem, next } of problems)
      process.stderr.write(`gantry: ${problem}${next === undefined ? '' : ` ${next}`}\n`);
  };
  setTimeout(() => void look().catch(() => {}), SANDBOX_LOOK_MS).unref();
}

/** On a terminal, an address that signs in as the operator. Elsewhere it would stay in a log. */
async function consoleLines(host: Host): Promise<string[]> {
  const problem = await host.consoleProblem();
  if (problem === null)
    return process.stdout.isTTY
      ? ['Open the console (works once, within 10 minutes):', `  ${await host.signInUrl()}`]
      : [];
  process.stderr.write(
    `gantry: ${problem}\nBrowsers cannot use this host. Run \`node scripts/bundle.mjs\`.\n`,
  );
  return [];
}

async function create(): Promise<Host> {
  const args = process.argv.slice(2);
  const settings = readSettings(args, process.env);
  const warnings = [
    ...settingWarnings(args, process.env),
    ...openWarnings(settings.host, settings.publicUrl, 'GANTRY_PUBLIC_URL'),
  ];
  for (const warning of warnings) process.stderr.write(`gantry: ${warning}\n`);
  return createHost({ settings });
}

const PARENT_LOOK_MS = 1_000;

/** npm sends its signal to the shell between it and this process, which does not forward it. */
function stopWithNpm(): void {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const { ppid } = process;
  const look = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_LOOK_MS).unref();
}

stopWithNpm();
await runServerProcess({ name: 'gantry', usage, create, greet: greeting });
