import type { Output } from './io.ts';

/** Final lines above, a redrawn block below. Without a terminal only the final lines are printed. */
export interface Painter {
  print(lines: readonly string[]): void;
  live(lines: readonly string[]): void;
  /** Pauses output while the user types; lines printed meanwhile appear after `release`. */
  hold(): void;
  release(): void;
  /** Erases the block and restores the cursor. */
  close(): void;
}

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const upAndClear = (count: number) => (count === 0 ? '' : `\x1b[${count}A\x1b[0J`);
const joined = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

export function createPainter(out: Output): Painter {
  return out.isTTY ? terminalPainter(out) : plainPainter(out);
}

function plainPainter(out: Output): Painter {
  return {
    print: (lines) => out.write(joined(lines)),
    live() {},
    hold() {},
    release() {},
    close() {},
  };
}

function terminalPainter(out: Output): Painter {
  let block: readonly string[] = [];
  let held: string[] | undefined;
  const draw = (above: readonly string[], below: readonly string[]) => {
    out.write(upAndClear(block.length) + joined(above) + joined(below));
    block = below;
  };
  out.write(HIDE_CURSOR);
  return {
    print(lines) {
      if (held) held.push(...lines);
      else draw(lines, block);
    },
    live(lines) {
      if (!held) draw([], lines);
    },
    hold() {
      draw([], []);
      out.write(SHOW_CURSOR);
      held = [];
    },
    release() {
      const lines = held ?? [];
      held = undefined;
      out.write(HIDE_CURSOR);
      draw(lines, []);
    },
    close() {
      draw([], []);
      out.write(SHOW_CURSOR);
    },
  };
}
