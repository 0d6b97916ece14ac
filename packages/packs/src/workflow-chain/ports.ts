import { type Json, type JsonObject, lazyValidator, OpenwopError, PortValue } from '@gantry/protocol';
import { asJson, mapStrings } from '../json.ts';
import type { FragmentNode } from './chain.ts';
import type { NodeIds } from './node-ids.ts';
import { type Substitution, wholeToken } from './substitute.ts';

export type VariablePort = Extract<PortValue, { type: 'variable' }>;

/** How a chain's parameters reach a node. */
export interface ParameterBinding {
  /** What is written down now. */
  readonly values: Substitution;
  /** The variable that brings a parameter to an input at run time; undefined when it is written down. */
  readonly variable: (parameter: string) => VariablePort | undefined;
}

/** An input as the definition has it, and as the manifest's own form has it. */
export interface ChainInput {
  readonly port: PortValue;
  readonly plain: Json;
}

const portSchema = lazyValidator(PortValue);

/**
 * What is a port is decided before values are filled in: a parameter is data, and cannot turn an input
 * into an expression or into a read of a variable.
 */
export function nodeInputs(
  node: FragmentNode,
  ids: NodeIds,
  binding: ParameterBinding,
): Map<string, ChainInput> {
  return new Map(
    Object.entries(node.inputs ?? {}).map(([name, template]) => {
      if (!portSchema.Check(template)) return [name, plainInput(asJson(template), binding)];
      const port = boundPort(template, ids, binding);
      if (!portSchema.Check(port)) throw unusable(node, name);
      return [name, { port, plain: asJson(port) }];
    }),
  );
}

export const portsOf = (inputs: ReadonlyMap<string, ChainInput>): Record<string, PortValue> =>
  Object.fromEntries([...inputs].map(([name, { port }]) => [name, port]));

export const plainOf = (inputs: ReadonlyMap<string, ChainInput>): JsonObject =>
  Object.fromEntries([...inputs].map(([name, { plain }]) => [name, plain]));

function plainInput(template: Json, binding: ParameterBinding): ChainInput {
  const variable = deferredPort(template, binding);
  if (variable) return { port: variable, plain: asJson(variable) };
  const plain = mapStrings(template, binding.values.value);
  return { port: { type: 'static', value: plain }, plain };
}

function deferredPort(template: Json, binding: ParameterBinding): VariablePort | undefined {
  const parameter = typeof template === 'string' ? wholeToken(template) : undefined;
  return parameter === undefined ? undefined : binding.variable(parameter);
}

function boundPort(template: PortValue, ids: NodeIds, binding: ParameterBinding): PortValue {
  const { text } = binding.values;
  switch (template.type) {
    case 'static':
      return plainInput(asJson(template.value), binding).port;
    case 'expression':
      return { ...template, expression: text(template.expression) };
    case 'connection':
      return { ...template, nodeId: ids.renamed(text(template.nodeId)), outputKey: text(template.outputKey) };
    case 'variable': {
      const variableName = text(template.variableName);
      return { ...template, variableName: binding.variable(variableName)?.variableName ?? variableName };
    }
  }
}

const unusable = (node: FragmentNode, input: string): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `With the parameters filled in, the input ${input} of the node ${node.id} names nothing.`,
    details: { nodeId: node.id, input },
  });
