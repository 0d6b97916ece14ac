/**
 * Fills in the variables of a prompt.
 *
 * I1  Values are inserted unchanged, once: a placeholder inside a value stays text.
 * I2  The value of a secret is never used here. The marker `[REDACTED:<id>]` replaces it.
 * I3  Untrusted values are enclosed in markers that they cannot close.
 * I4  The same template and values give the same text, whatever the order of their members.
 */
import { hash } from 'node:crypto';
import { markUntrusted } from '@gantry/ai';
import type { PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import canonicalize from 'canonicalize';

export type ContentTrust = 'trusted' | 'untrusted';

export interface Composition {
  readonly composed: string;
  readonly hash: string;
  readonly refs: readonly string[];
  readonly variableHashes: Readonly<Record<string, string>>;
  readonly contentTrust: ContentTrust;
}

type Variable = NonNullable<PromptTemplate['variables']>[number];
export type Bindings = Readonly<Record<string, unknown>>;

/** A short template can repeat a long value many times. */
const COMPOSED_LENGTH_MAX = 1024 * 1024;

export function composePrompt(
  template: PromptTemplate,
  bindings: Bindings,
  contentTrust: ContentTrust = 'trusted',
): Composition {
  const { templateId, version, text, variables = [] } = template;
  requireBound(variables, bindings);
  const values = new Map(variables.map((variable) => [variable.name, readValue(variable, bindings)]));
  const shown = new Map(
    [...values].map(([name, value]) => [name, contentTrust === 'untrusted' ? guarded(value) : value.text]),
  );
  const composed = substitute(text, shown);
  return {
    composed,
    hash: sha256(composed),
    refs: [`prompt:${templateId}@${version}`],
    variableHashes: Object.fromEntries([...values].map(([name, value]) => [name, sha256(value.text)])),
    contentTrust,
  };
}

const sha256 = (text: string): string => `sha256:${hash('sha256', text, 'hex')}`;

interface Value {
  readonly text: string;
  /** Whether it came with the request; values of the template itself are trusted. */
  readonly given: boolean;
}

const bound = ({ name }: Variable, bindings: Bindings): unknown =>
  Object.hasOwn(bindings, name) ? (bindings[name] ?? undefined) : undefined;

function requireBound(variables: readonly Variable[], bindings: Bindings): void {
  const open = variables.filter((variable) => variable.required && bound(variable, bindings) === undefined);
  if (open.length === 0) return;
  const names = open.map(({ name }) => name);
  throw new OpenwopError('prompt_variable_unresolved', {
    message: `The prompt needs a value for ${names.join(', ')}.`,
    details: { variables: names },
  });
}

function readValue(variable: Variable, bindings: Bindings): Value {
  const { source, type, defaultValue } = variable;
  const value = bound(variable, bindings);
  if (source === 'secret') return { text: markerOf(variable, value), given: false };
  if (value === undefined)
    return { text: defaultValue === undefined ? '' : textOf(defaultValue), given: false };
  if (typeOf(value) !== type) throw mismatch(variable, type);
  return { text: textOf(value), given: true };
}

const MARKER = /^\[REDACTED:[^\]\s]{1,256}\]$/;

/** I2. Refuses the plain text of a secret, and does not repeat it in the error. */
function markerOf(variable: Variable, value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && MARKER.test(value)) return value;
  throw mismatch(variable, '[REDACTED:<id>]');
}

function mismatch({ name }: Variable, expected: string): OpenwopError {
  return new OpenwopError('prompt_variable_type_mismatch', {
    message: `The value of ${name} must be ${expected}.`,
    details: { variable: name, expected },
  });
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** I4. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (canonicalize(value) ?? String(value));

/** I3. */
const guarded = ({ text, given }: Value): string => (given ? markUntrusted(text) : text);

export const PLACEHOLDER = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*\}\}/g;

/** I1. The length is checked before memory is allocated for the text. */
function substitute(template: string, values: ReadonlyMap<string, string>): string {
  let length = template.length;
  for (const [, name = ''] of template.matchAll(PLACEHOLDER)) length += values.get(name)?.length ?? 0;
  if (length > COMPOSED_LENGTH_MAX)
    throw new OpenwopError('payload_too_large', {
      message: `The prompt would have more than ${COMPOSED_LENGTH_MAX} characters. Give shorter values.`,
    });
  return template.replace(PLACEHOLDER, (_whole, name: string) => values.get(name) ?? '');
}
