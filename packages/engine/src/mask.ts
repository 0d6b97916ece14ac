import type { Json, JsonObject, MaskingMode } from '@gantry/protocol';
import type { Plan, PlanNode } from './plan.ts';

/** The hex digest of a text. Injected, so that the core does not depend on platform modules. */
export type Sha256 = (text: string) => string;

/** The replacement of a sensitive value for readers; undefined omits it. */
export type Mask = (value: Json) => Json | undefined;

export function createMask(mode: MaskingMode, sha256: Sha256 | undefined): Mask {
  switch (mode) {
    case 'mask':
      return () => '[REDACTED]';
    case 'omit':
      return () => undefined;
    case 'passthrough':
      return (value) => value;
    case 'hash':
      return (value) => `sha256:${sha256?.(typeof value === 'string' ? value : JSON.stringify(value))}`;
  }
}

/** The values with sensitive ones masked. Returns the same object when none is sensitive. */
function maskObject(values: JsonObject, isSensitive: (key: string) => boolean, mask: Mask): JsonObject {
  let masked: JsonObject | undefined;
  for (const key in values) {
    if (!isSensitive(key)) continue;
    masked ??= { ...values };
    const shown = mask(values[key]!);
    if (shown === undefined) delete masked[key];
    else masked[key] = shown;
  }
  return masked ?? values;
}

export const maskVariables = (plan: Plan, values: JsonObject): JsonObject =>
  maskObject(values, (name) => plan.variables.get(name)?.sensitive === true, plan.mask);

export function maskOutputs(plan: Plan, node: PlanNode, outputs: JsonObject): JsonObject {
  if (node.sensitiveOutputs.size === 0) return outputs;
  return maskObject(outputs, (port) => node.sensitiveOutputs.has(port), plan.mask);
}
