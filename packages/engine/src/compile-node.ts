import { type EdgeCondition, given, type Json, type PortValue, type WorkflowNode } from '@gantry/protocol';
import { nodeArtifact } from './artifacts/node-artifact.ts';
import type { Compilation, DefinitionIssue } from './compilation.ts';
import type { Expression } from './expression.ts';
import { asJson, isObject, isReservedName, own } from './json.ts';
import { checkDecision, checkPackInputs } from './node-inputs.ts';
import { checkMembers } from './nodes/config-members.ts';
import type { Preparation } from './nodes/node-type.ts';
import type { InputPort, PlanNode, RetryPolicy } from './plan.ts';
import { checkOutput, checkVariable, DECLARE, noVariable } from './read-paths.ts';
import { PORT_ROOTS } from './scope.ts';

const MS_MAX = 2 ** 31 - 1;
export type OwnParts = Omit<
  PlanNode,
  'index' | 'rule' | 'incoming' | 'outgoing' | 'loopbacksIn' | 'loopbacksOut' | 'conditional'
>;

/** Everything about a node that does not depend on its edges. */
export function nodeParts(compilation: Compilation, node: WorkflowNode, position: number): OwnParts {
  const path = `/nodes/${position}`;
  const type = compilation.typeOf(node.typeId)!;
  const sensitiveOutputs = new Set<string>();
  const channelReads = new Set<string>();
  const preparation = preparationOf(compilation, node, `${path}/config`, { sensitiveOutputs, channelReads });
  if (type.pack) checkPackInputs(compilation, node, path, type.pack);
  else checkMembers(preparation);
  checkDecision(compilation, node, path);
  const prepared = type.prepare(preparation);
  for (const [port, sensitive] of Object.entries(node.outputSensitivity ?? {})) {
    if (sensitive) sensitiveOutputs.add(port);
    else sensitiveOutputs.delete(port);
  }
  const retry = retryPolicy(compilation, node, `${path}/settings`);
  const artifact = nodeArtifact(compilation, node, type, path);
  return {
    id: node.id,
    typeId: node.typeId,
    definition: node,
    disabled: node.disabled === true,
    behaviour: typeof prepared === 'function' ? { execute: prepared } : prepared,
    leavesProcess: type.leavesProcess === true,
    ...(type.pack && { pack: type.pack }),
    ...(artifact && { artifact }),
    reviews: type.reviews === true,
    keepsInputs: type.leavesProcess === true || retry.maxRetries > 0,
    inputs: Object.entries(node.inputs).flatMap(([name, port]) => {
      const compiled = inputPort(compilation, `${path}/inputs/${name}`, name, port);
      if (compiled?.type === 'expression') noteReads(channelReads, compiled.expression);
      return compiled ? [compiled] : [];
    }),
    retry,
    sensitiveOutputs,
    channelReads,
  };
}

/** What preparing a node finds in addition to its behaviour. */
interface Findings {
  readonly sensitiveOutputs: Set<string>;
  readonly channelReads: Set<string>;
}

function noteReads(channelReads: Set<string>, expression: Expression | undefined): void {
  for (const name of expression?.channelNames ?? []) channelReads.add(name);
}

function preparationOf(
  compilation: Compilation,
  node: WorkflowNode,
  path: string,
  { sensitiveOutputs, channelReads }: Findings,
): Preparation {
  const config = asJson(node.config);
  const inputs = compilation.inputNames.get(node.id)!;
  return {
    node,
    config: isObject(config) ? config : {},
    definition: compilation.definition,
    variables: compilation.variables,
    issue: (key, message, requiredCapability) =>
      compilation.issue(key === '' ? path : `${path}/${key}`, message, lacking(node, requiredCapability)),
    unknown: (key, message, word, known) =>
      compilation.issue(`${path}/${key}`, message, given({ fix: compilation.suggestion(word, known) })),
    checkVariable: (key, name, direction) => checkVariable(compilation, `${path}/${key}`, name, direction),
    expression: (key, text) => {
      const expression = compilation.expression(`${path}/${key}`, text, PORT_ROOTS, inputs);
      noteReads(channelReads, expression);
      return expression;
    },
    condition: (spec) => {
      const condition = compilation.condition(path, spec as EdgeCondition, inputs);
      if (condition?.type === 'expression') noteReads(channelReads, condition.expression);
      return condition;
    },
    schema: (key, schema) => compilation.schema(`${path}/${key}`, schema),
    markSensitive: (output) => sensitiveOutputs.add(output),
  };
}

function lacking(
  { id, typeId }: WorkflowNode,
  requiredCapability: string | undefined,
): Pick<DefinitionIssue, 'code' | 'details'> {
  if (requiredCapability === undefined) return {};
  const details = { requiredCapability, offendingTypeId: typeId, nodeId: id };
  return { code: 'capability_required', details };
}

function inputPort(
  compilation: Compilation,
  path: string,
  name: string,
  port: PortValue,
): InputPort | undefined {
  if (isReservedName(name)) compilation.issue(path, `${name} is a reserved name`);
  switch (port.type) {
    case 'static':
      return { type: 'static', name, value: asJson(port.value) };
    case 'expression': {
      const expression = compilation.expression(`${path}/expression`, port.expression, PORT_ROOTS);
      return expression && { type: 'expression', name, expression };
    }
    case 'connection': {
      const { nodeId, outputKey, optional = false } = port;
      if (compilation.checkNodeId(`${path}/nodeId`, nodeId))
        checkOutput(compilation, `${path}/outputKey`, { nodeId, name: outputKey });
      return { type: 'connection', name, nodeId, outputKey, optional };
    }
    case 'variable': {
      const { variableName, optional = false } = port;
      if (!compilation.variables.has(variableName)) {
        const fix = compilation.suggestion(variableName, compilation.variables.keys()) ?? DECLARE;
        compilation.issue(`${path}/variableName`, noVariable(variableName), { fix });
      }
      return { type: 'variable', name, variableName, optional };
    }
  }
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly fraction?: boolean;
}

const SETTINGS = ['maxRetries', 'timeoutMs', 'backoffMs', 'backoffFactor', 'maxBackoffMs'];

function retryPolicy(compilation: Compilation, node: WorkflowNode, path: string): RetryPolicy {
  const settings = asJson(node.settings ?? {});
  for (const name of Object.keys(isObject(settings) ? settings : {}))
    if (!SETTINGS.includes(name))
      compilation.warn(
        `${path}/${name}`,
        `Unknown setting ${name} of a node (ignored)`,
        compilation.suggestion(name, SETTINGS),
      );
  const numberOf = (key: string, range: Range, fallback: number): number => {
    const value: Json | undefined = isObject(settings) ? own(settings, key) : undefined;
    if (value === undefined) return fallback;
    const fits = typeof value === 'number' && value >= range.min && value <= range.max;
    if (fits && (range.fraction || Number.isInteger(value))) return value;
    const kind = range.fraction ? 'number' : 'whole number';
    compilation.issue(`${path}/${key}`, `${key} must be a ${kind} from ${range.min} to ${range.max}`);
    return fallback;
  };
  const maxRetries = numberOf(
    'maxRetries',
    { min: 0, max: 1_000 },
    compilation.definition.settings.maxRetries ?? 0,
  );
  const timeoutMs = numberOf('timeoutMs', { min: 1, max: MS_MAX }, 0);
  return {
    maxRetries,
    backoffMs: numberOf('backoffMs', { min: 0, max: MS_MAX }, 1_000),
    backoffFactor: numberOf('backoffFactor', { min: 1, max: 100, fraction: true }, 2),
    maxBackoffMs: numberOf('maxBackoffMs', { min: 0, max: MS_MAX }, 60_000),
    ...(timeoutMs > 0 && { timeoutMs }),
  };
}
