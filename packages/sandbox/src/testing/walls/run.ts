/** Runs modules of the corpus in the place of the runner, with the child that the sandbox has. */
import { Child } from '../../child.ts';
import type { Launcher } from '../../isolation/launch.ts';
import { packOf } from '../sandbox.ts';

const MIB = 1024 * 1024;
const MEMORY_BYTES = 64 * MIB;

export interface Interpreter {
  readonly launcher: Launcher;
  /** Where it lies in its view, and what precedes a script. */
  readonly program: string;
  readonly flags: readonly string[];
}

export interface Started {
  readonly child: Child;
  /** The first message. */
  readonly said: Promise<unknown>;
  readonly ended: Promise<void>;
}

export async function start({ launcher, program, flags }: Interpreter, script: string): Promise<Started> {
  const { folder } = await packOf('');
  const command = launcher.command({ folder, flags: [], dataBytes: MEMORY_BYTES });
  const args = [...command.args.slice(0, command.args.lastIndexOf(program) + 1), ...flags, script];
  const said = Promise.withResolvers<unknown>();
  const ended = Promise.withResolvers<void>();
  const child = new Child({ ...command, args }, 'acme', {
    message: ({ message }) => said.resolve(message),
    end: (end) => {
      said.resolve(end);
      ended.resolve();
    },
  });
  return { child, said: said.promise, ended: ended.promise };
}
