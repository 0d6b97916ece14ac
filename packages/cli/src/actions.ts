/** Commands with commands of their own: `gantry keys ls`, `gantry keys create NAME`. */
import { didYouMean } from '@gantry/protocol';
import { type Call, type Command, type OptionSpecs, wordCount } from './command.ts';
import { EXIT, UsageError } from './io.ts';

export interface Action {
  /** What follows its name. */
  readonly takes?: string;
  /** Answers the exit code where it is another than 0. */
  act(call: Call, ...words: string[]): Promise<unknown>;
}

export type Actions = Readonly<Record<string, Action>>;

export interface ActionCommand extends Omit<Command, 'usage' | 'words' | 'run'> {
  readonly actions: Actions;
  /** Where it is not that of all actions. */
  readonly usage?: string;
  /** Without a word the first action is carried out, unless one has to be named. */
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

/** Words that the longest action takes, its own name included. */
export const wordsMax = (actions: Actions): number =>
  1 + Math.max(...Object.values(actions).map(({ takes = '' }) => wordCount(takes).max));

/** Carries out the action that the first word names; without a word, the first one there is. */
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

/** One that an action does not take would be ignored, and do nothing of what it says. */
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
