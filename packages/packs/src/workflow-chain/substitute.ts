import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { own } from '../json.ts';

/** Matches never overlap and each scans its own text once: linear, whatever the text. */
const TOKEN = /\{\{params\.([a-zA-Z_]\w*)\}\}/g;
const WHOLE = /^\{\{params\.([a-zA-Z_]\w*)\}\}$/;

/** One big value can be named ever so often; this is all that substitution may add. */
const ADDED_MAX = 4_194_304;

/** The parameter that the text is a token of, if it is exactly one token. */
export const wholeToken = (text: string): string | undefined => WHOLE.exec(text)?.[1];

export const hasToken = (text: string): boolean => text.search(TOKEN) !== -1;

export interface Substitution {
  /** A whole token becomes the value with its type; a token inside text becomes text. */
  value(template: string): Json;
  text(template: string): string;
}

export interface SubstitutionRules {
  /** Parameters that are never written down. */
  readonly sensitive: ReadonlySet<string>;
  /** Parameters that are not replaced by nothing when they have no value. */
  readonly required: ReadonlySet<string>;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Puts values in place of `{{params.x}}`, in one pass: a value that looks like a token is data and stays.
 * A parameter without a value is the empty string.
 * @example substitution({ n: 3 }, rules).value('{{params.n}}') // 3
 */
export function substitution(values: JsonObject, rules: SubstitutionRules): Substitution {
  const texts = new Map<string, string>();
  let added = 0;

  const read = (name: string): { value: Json; text: string } => {
    if (rules.sensitive.has(name)) throw sensitiveParameter(name);
    const value = own(values, name);
    if (value === undefined && rules.required.has(name)) throw missingParameter(name);
    const text = texts.get(name) ?? (value === undefined ? '' : textOf(value));
    texts.set(name, text);
    added += text.length;
    if (added > ADDED_MAX) throw tooLarge();
    return { value: value === undefined ? '' : value, text };
  };

  const text = (template: string): string =>
    template.replace(TOKEN, (_token, name: string) => read(name).text);
  const value = (template: string): Json => {
    const name = wholeToken(template);
    return name === undefined ? text(template) : read(name).value;
  };
  return { value, text };
}

export const sensitiveParameter = (parameter: string): OpenwopError =>
  new OpenwopError('sensitive_param_not_deferrable', { details: { parameter } });

const missingParameter = (name: string): OpenwopError =>
  new OpenwopError('chain_parameter_invalid', {
    message: `The parameter ${name} is written into the workflow, so it needs a value or a default.`,
    details: { path: `/${name}` },
  });

const tooLarge = (): OpenwopError =>
  new OpenwopError('payload_too_large', {
    message: `With its parameters filled in, the chain is larger than ${ADDED_MAX} characters.`,
    details: { maxCharacters: ADDED_MAX },
  });
