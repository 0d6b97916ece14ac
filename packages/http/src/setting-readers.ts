/** Parsers of settings. */

/** An invalid setting, with a message that says how to fix it. */
export class SettingsError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Read<T> {
  /** `text` is undefined if the setting is not given; `name` is that of its flag or variable. */
  (text: string | undefined, name: string, env: Environment): T;
  /** The default, as the usage shows it. */
  readonly fallback?: string;
}

const falling = <T>(fallback: string, read: Read<T>): Read<T> => Object.assign(read, { fallback });

const wrong = (name: string, expected: string, text: string): SettingsError =>
  new SettingsError(`${name} must be ${expected}, not "${text}".`);

export const text: Read<string | undefined> = (given) => given;

export const textOr = (fallback: string): Read<string> => falling(fallback, (text = fallback) => text);

/** Separated by commas. */
export const list = (fallback = ''): Read<readonly string[]> =>
  falling(fallback || 'none', (text = fallback) => {
    const items = text.split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  });

export const whole = (fallback: number, min: number, max: number): Read<number> =>
  falling(String(fallback), (text, name) => {
    if (text === undefined) return fallback;
    const number = Number(text);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw wrong(name, `a whole number from ${min} to ${max}`, text);
  });

/** Without a value there is no limit. */
export const amount =
  ({ isWhole }: { readonly isWhole: boolean }): Read<number | undefined> =>
  (text, name) => {
    if (text === undefined) return undefined;
    const number = Number(text);
    if (number > 0 && (isWhole ? Number.isSafeInteger(number) : Number.isFinite(number))) return number;
    throw wrong(name, isWhole ? 'a whole number above 0' : 'a number above 0', text);
  };

export const choice = <const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
): Read<Choice> =>
  falling(fallback, (text = fallback, name) => {
    const chosen = choices.find((each) => each === text);
    if (chosen !== undefined) return chosen;
    throw wrong(name, `one of ${choices.join(', ')}`, text);
  });

const zeroOrOne = choice(['0', '1'], '0');
export const isOn: Read<boolean> = falling('off', (...given) => zeroOrOne(...given) === '1');

export const logLevel: Read<string> = choice(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
  'info',
);

/** Without a trailing slash. */
export const publicUrl: Read<string | undefined> = (text, name) => {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:\/\/[^?#]+$/.test(text)) return text.replace(/\/+$/, '');
  throw wrong(name, 'an address such as https://gantry.example.org', text);
};

/** Messages do not repeat the value: it may contain a password. */
export const databaseUrl: Read<string | undefined> = (text, name) => {
  if (text === undefined || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new SettingsError(`${name} must start with postgres://. Leave it out to use SQLite.`);
};
