import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Input } from './io.ts';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
  /** Called on Ctrl-C, which readline intercepts while it reads a line. */
  interrupt(): void;
}

/** Reads lines with the usual editing keys. */
export function terminalInput({ input, output, interrupt }: Terminal): Input {
  return {
    get isTTY() {
      return input.isTTY === true;
    },
    read: () => text(input),
    async ask(prompt, signal, how) {
      if (how?.hidden) output.write(prompt);
      const lines = createInterface({ input, output: how?.hidden ? nothing() : output, terminal: true });
      lines.on('SIGINT', interrupt);
      const ended = once(lines, 'close').then(() => undefined);
      try {
        return await Promise.race([lines.question(prompt, { signal }), ended]);
      } catch {
        // Ctrl-D rejects like an abort.
        output.write('\n');
        signal.throwIfAborted();
        return undefined;
      } finally {
        lines.close();
        if (how?.hidden) output.write('\n');
      }
    },
  };
}

const nothing = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
