import type { Json, JsonObject, MaskingMode } from '@gantry/protocol';
import type { Plan, PlanNode } from './plan.ts';

/** Hex digest of a text. Passed in, so that the core stays free of platform modules. */
export type Sha256 = (text: string) => string;

/** What readers see in place of a sensitive value; undefined leaves it out. */
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

/** The values as readers may see them. Gives back the same object when nothing in it is sensitive. */
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
