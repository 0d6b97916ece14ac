/** Reads settings of a node's config: an invalid one is reported under its name, and counts as absent. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Preparation } from './node-type.ts';

/** `of` is an object in the config at `prefix`, or the config itself. */
export function settingsOf({ config, issue }: Preparation, of: JsonObject = config, prefix = '') {
  const read = <Value extends Json>(
    name: string,
    expected: string,
    fits: (value: Json) => value is Value,
  ): Value | undefined => {
    const value = of[name];
    if (value === undefined || fits(value)) return value;
    issue(`${prefix}${name}`, `${name} must be ${expected}`);
    return;
  };
  return {
    text: (name: string) => read(name, 'text', (value) => typeof value === 'string'),
    flag: (name: string) => read(name, 'true or false', (value) => typeof value === 'boolean'),
    whole(name: string, min: number, max = Number.MAX_SAFE_INTEGER) {
      const end = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : '';
      return read(
        name,
        `a whole number from ${min}${end}`,
        (value): value is number =>
          Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
      );
    },
    choice: <Choice extends string>(name: string, choices: readonly Choice[]) =>
      read(name, `one of ${choices.join(', ')}`, (value): value is Choice =>
        choices.some((choice) => choice === value),
      ),
  };
}
