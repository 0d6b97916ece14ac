/** Surfaces that a model describes and a client draws with its own widgets: data of a closed catalogue, never code. */
import { closedObject, type Json, type JsonObject, optional } from '@gantry/protocol';
import Type, { type Static, type TProperties } from 'typebox';

export const CATALOG_VERSION = '0.9.1';

const Text = Type.String();
const component = <T extends TProperties>(name: string, members: T) =>
  closedObject({ component: Type.Enum([name]), ...members });
const field = <T extends TProperties>(name: string, members: T) =>
  component(`field.${name}`, { id: Text, label: Text, ...members });
const required = { required: optional(Type.Boolean()) };

const Component = Type.Union([
  component('heading', { text: Text, level: optional(Type.Integer({ minimum: 1, maximum: 6 })) }),
  component('text', { text: Text }),
  field('text', { placeholder: optional(Text), ...required }),
  field('date', required),
  field('select', {
    ...required,
    options: Type.Array(closedObject({ value: Text, label: Text }), { minItems: 1 }),
  }),
  field('checkbox', { default: optional(Type.Boolean()) }),
  component('action.button', {
    id: Text,
    label: Text,
    action: closedObject({ target: Type.Enum(['resume', 'exchange']) }),
  }),
]);

export const A2uiPayload = closedObject({
  reasoning: optional(Text),
  catalogVersion: Type.Enum([CATALOG_VERSION]),
  surface: closedObject({ title: optional(Text), components: Type.Array(Component) }),
});
export type A2uiPayload = Static<typeof A2uiPayload>;

export type PatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** The patch from `before` to `after` (RFC 6902). Empty if both are the same. */
export function patchBetween(before: Json, after: Json, path = ''): PatchStep[] {
  if (isArray(before) && isArray(after)) return arrayPatch(before, after, path);
  if (isObject(before) && isObject(after)) return objectPatch(before, after, path);
  return before === after ? [] : [{ op: 'replace', path, value: after }];
}

function objectPatch(before: JsonObject, after: JsonObject, path: string): PatchStep[] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const steps: PatchStep[] = gone.map((name) => ({ op: 'remove', path: memberPath(path, name) }));
  for (const [name, value] of Object.entries(after)) {
    const at = memberPath(path, name);
    if (Object.hasOwn(before, name)) steps.push(...patchBetween(before[name]!, value, at));
    else steps.push({ op: 'add', path: at, value });
  }
  return steps;
}

/** Only the middle changes; equal items at both ends are kept, so a line added at the top is one step. */
function arrayPatch(before: readonly Json[], after: readonly Json[], path: string): PatchStep[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(before[head]!, after[head]!)) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(before.at(-1 - tail)!, after.at(-1 - tail)!)) tail++;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  const both = Math.min(old.length, now.length);
  const steps = now
    .slice(0, both)
    .flatMap((value, index) => patchBetween(old[index]!, value, `${path}/${head + index}`));
  for (let index = both; index < old.length; index++)
    steps.push({ op: 'remove', path: `${path}/${head + both}` });
  for (let index = both; index < now.length; index++)
    steps.push({ op: 'add', path: `${path}/${head + index}`, value: now[index]! });
  return steps;
}

const memberPath = (path: string, name: string): string =>
  `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
const isArray = (value: Json): value is Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSame = (left: Json, right: Json): boolean => patchBetween(left, right).length === 0;
