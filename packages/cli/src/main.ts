import process from 'node:process';
import { runCli } from './cli.ts';
import type { Output } from './io.ts';
import { terminalInput } from './terminal.ts';

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));

// `gantry events ID | head` closes the pipe early: that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const output = (stream: NodeJS.WriteStream): Output => ({
  write: (text) => void stream.write(text),
  get isTTY() {
    return stream.isTTY === true;
  },
  get columns() {
    // Some pseudo-terminals report a width of 0.
    return stream.columns || 80;
  },
});

const stdin = terminalInput({
  input: process.stdin,
  output: process.stdout,
  interrupt: () => interrupted.abort(new Error('interrupted')),
});

process.exitCode = await runCli(process.argv.slice(2), {
  stdin,
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  signal: interrupted.signal,
});

// When everything is written: Node's own cleanup sometimes does not end (seen with 26.10, on a busy machine).
process.once('beforeExit', () => process.exit());
