import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Input } from './io.ts';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
  /** Called on Ctrl-C, which readline takes for itself while it reads a line. */
  interrupt(): void;
}

/** Lines that a person types, with the keys they are used to. */
export function terminalInput({ input, output, interrupt }: Terminal): Input {
  return {
    get isTTY() {
      return input.isTTY === true;
    },
    async ask(prompt, signal) {
      const lines = createInterface({ input, output, terminal: true });
      lines.on('SIGINT', interrupt);
      const ended = once(lines, 'close').then(() => undefined);
      try {
        return await Promise.race([lines.question(prompt, { signal }), ended]);
      } catch {
        // Ctrl-D rejects like an abort does.
        output.write('\n');
        signal.throwIfAborted();
        return undefined;
      } finally {
        lines.close();
      }
    },
  };
}
