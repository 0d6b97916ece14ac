export { runCli } from './cli.ts';
export type { Command, OptionSpec } from './command.ts';
export { COMMANDS } from './commands/index.ts';
export { EXIT, type Input, type Io } from './io.ts';
