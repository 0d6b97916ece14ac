import { COMMON_OPTIONS, type Command, type OptionSpecs } from './command.ts';

const INDENT = '  ';
const HELP_ROW = ['help [command]', 'show this, or all about one command'] as const;

function rows(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `${INDENT}${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
}

function optionRows(options: OptionSpecs): [string, string][] {
  return Object.entries(options).map(([name, { short, value, text, of }]) => {
    const written = `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
    return [written, of ? `${of.join(', ')}: ${text}` : text];
  });
}

/** The output of `gantry` and `gantry help`. */
export function overview(commands: readonly Command[], version: string): string {
  return [
    `Gantry ${version}: durable workflows on your machine.`,
    `Usage: gantry <command> [options]`,
    `Start here:\n${INDENT}gantry start\n${INDENT}gantry run hello --watch`,
    `Commands:\n${rows([...commands.map(({ name, summary }) => [name, summary] as const), HELP_ROW])}`,
    `Options:\n${rows([...optionRows(COMMON_OPTIONS), ['--version', 'show the version']])}`,
    'Exit codes: 0 done, 1 the run failed, 2 the command could not be carried out, 3 the run was cancelled.',
    'More about one command: gantry help <command>',
  ]
    .join('\n\n')
    .concat('\n');
}

export function commandHelp(command: Command): string {
  const options =
    command.words === 'passthrough' ? command.options : { ...command.options, ...COMMON_OPTIONS };
  return [
    `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`,
    `Usage: gantry ${command.usage}`,
    ...(command.details ? [command.details] : []),
    ...(Object.keys(options).length > 0 ? [`Options:\n${rows(optionRows(options))}`] : []),
    `Examples:\n${command.examples.map((example) => INDENT + example).join('\n')}`,
  ]
    .join('\n\n')
    .concat('\n');
}
