import { spawn } from 'node:child_process';
import { type Command, flag } from '../command.ts';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Whether the system has taken the address; a browser that it opens outlives this process. */
function opened(url: string): Promise<boolean> {
  const [command, ...words] = OPENERS[process.platform] ?? [];
  if (command === undefined) return Promise.resolve(false);
  const child = spawn(command, [...words, url], { detached: true, stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

export const open: Command = {
  name: 'open',
  summary: 'open the console in a browser, signed in',
  usage: 'open [--print]',
  details:
    'Makes an address that signs in once, within 10 minutes, with the rights of your key. Off a terminal it is only printed.',
  options: { print: flag('print the address instead of opening it') },
  examples: ['gantry open', 'gantry open --print'],
  async run({ args, client, io }) {
    const { url } = await client.session.link();
    const isOpened = io.stdout.isTTY && !args.flag('print') && (await opened(url));
    io.stdout.write(isOpened ? `Opened ${new URL(url).origin} in your browser.\n` : `${url}\n`);
  },
};
