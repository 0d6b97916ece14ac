/** Commands with subcommands: `gantry keys ls`, `gantry keys create NAME`. */
import { didYouMean } from '@gantry/protocol';
import { type Call, type Command, type OptionSpecs, wordCount } from './command.ts';
import { EXIT, UsageError } from './io.ts';

export interface Action {
  /** The words after its name. */
  readonly takes?: string;
  /** Returns the exit code if it is not 0. */
  act(call: Call, ...words: string[]): Promise<unknown>;
}

export type Actions = Readonly<Record<string, Action>>;

export interface ActionCommand extends Omit<Command, 'usage' | 'words' | 'run'> {
  readonly actions: Actions;
  /** Overrides the generated usage. */
  readonly usage?: string;
  /** Requires an action. Otherwise the first action is the default. */
  readonly isNamed?: true;
}

export function actionCommand({ actions, isNamed, ...of }: ActionCommand): Command {
  return {
    usage: usageOf(of.name, actions),
    ...of,
    words: { min: isNamed ? 1 : 0, max: wordsMax(actions) },
    run: (call) => runAction(of, actions, call),
  };
}

/** The number of words of the longest action, including its name. */
export const wordsMax = (actions: Actions): number =>
  1 + Math.max(...Object.values(actions).map(({ takes = '' }) => wordCount(takes).max));

/** Runs the action that the first word names, or the first action by default. */
export async function runAction(
  { name: command, options }: Pick<Command, 'name' | 'options'>,
  actions: Actions,
  call: Call,
): Promise<number> {
  const names = Object.keys(actions);
  const [name = names[0] ?? '', ...words] = call.args.words;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) {
    const hint = didYouMean(name, names) || ` It can: ${names.join(', ')}.`;
    throw new UsageError(`Unknown action "${name}" of gantry ${command}.${hint}`);
  }
  refuseOptionsOfOthers(command, name, options, call.args.options);
  const takes = action.takes ?? '';
  const { min, max } = wordCount(takes);
  const usage = `Usage: gantry ${command} ${name} ${takes}`.trimEnd();
  if (words.length < min) throw new UsageError(usage);
  if (words.length > max) throw new UsageError(`Unexpected argument "${words[max]}". ${usage}`);
  const code = await action.act(call, ...words);
  return typeof code === 'number' ? code : EXIT.ok;
}

/** Refuse an option that the action does not accept: it would be ignored silently. */
function refuseOptionsOfOthers(
  command: string,
  action: string,
  options: OptionSpecs,
  givenNames: readonly string[],
): void {
  for (const name of givenNames) {
    const of = options[name]?.of ?? [action];
    if (!of.includes(action))
      throw new UsageError(
        `gantry ${command} ${action} does not take --${name}, which is for: ${of.join(', ')}. See \`gantry help ${command}\`.`,
      );
  }
}

/** @example usageOf('keys', { ls, revoke }) // 'keys [ls | revoke <keyId>]' */
const usageOf = (command: string, actions: Actions): string =>
  `${command} [${Object.entries(actions)
    .map(([name, { takes = '' }]) => `${name} ${takes}`.trimEnd())
    .join(' | ')}]`;
