import {
  type EdgeCondition,
  given,
  invalid,
  type Json,
  type JsonObject,
  lazyValidator,
  PortValue,
  type WorkflowEdge,
  type WorkflowNode,
} from '@gantry/protocol';
import { asJson, mapObjectStrings, mapStrings } from '../json.ts';
import type { ChainCapability, FragmentEdge, FragmentNode, WorkflowChain } from './chain.ts';
import { bindSubChains, type ChildIds } from './check-chain.ts';
import { type ParameterBinding, wholeToken } from './parameters.ts';

/** An expanded node in manifest form, as the expansion seam of the protocol returns it. */
export type ExpandedFragmentNode = Omit<FragmentNode, 'compensation'> & {
  readonly compensation?: JsonObject;
  readonly capabilities?: readonly ChainCapability[];
};

/** The distance between nodes without a position. */
const COLUMN_WIDTH = 240;

const portSchema = lazyValidator(PortValue);
const NODE_REFERENCE = /(?<![\w.-])nodes\.([A-Za-z0-9_-]+)/g;

/** `<chainId with dots as underscores>_<expansionId>_`, the prefix of every id that an expansion creates. */
export const expansionPrefix = (chainId: string, expansionId: string): string =>
  `${chainId.replaceAll('.', '_')}_${expansionId}_`;

export interface ExpansionOptions {
  /** Unique in the target workflow: letters, digits, `_` and `-`. */
  readonly expansionId: string;
  /** The workflows of composed chains; without it, a chain that composes others is refused. */
  readonly children?: ChildIds;
}

/**
 * Rewrites the parts of a chain: nodes get new ids, and parameters replace their tokens. Each part is produced in
 * manifest form and in definition form.
 */
export class Rewriter {
  readonly #chain: WorkflowChain;
  readonly #nodeIds: ReadonlySet<string>;
  readonly #prefix: string;
  readonly #binding: ParameterBinding;
  readonly #children: ChildIds | undefined;

  constructor(chain: WorkflowChain, binding: ParameterBinding, { expansionId, children }: ExpansionOptions) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(expansionId)) throw new Error(`not an expansion id: ${expansionId}`);
    this.#chain = chain;
    this.#nodeIds = new Set(chain.dag.nodes.map(({ id }) => id));
    this.#prefix = expansionPrefix(chain.chainId, expansionId);
    this.#binding = binding;
    this.#children = children;
  }

  node(source: FragmentNode, column: number): { fragment: ExpandedFragmentNode; node: WorkflowNode } {
    const { typeId, position, irreversibleEffect } = source;
    const inputs = this.#inputs(source);
    const name = source.name === undefined ? undefined : this.#binding.values.text(source.name);
    const config = source.config && this.#config(source.config as JsonObject);
    const compensation = source.compensation && this.#compensation(source.compensation);
    const capabilities = this.#chain.capabilities?.length ? [...this.#chain.capabilities] : undefined;
    const shared = { id: this.#renamed(source.id), typeId, ...given({ compensation, irreversibleEffect }) };
    return {
      fragment: {
        ...shared,
        ...given({ name, position, config, inputs: source.inputs && inputs.plain, capabilities }),
      },
      node: {
        ...shared,
        name: name || source.id,
        position: { x: column * COLUMN_WIDTH, y: 0, ...position },
        config: config ?? {},
        inputs: inputs.ports,
        // The node of a definition is closed and has no `capabilities`; its settings are open.
        ...(capabilities && { settings: { capabilities } }),
      },
    };
  }

  edge(source: FragmentEdge, index: number): { fragment: FragmentEdge; edge: WorkflowEdge } {
    const from = this.#endpoint(source.from);
    const to = this.#endpoint(source.to);
    const rules = given({ condition: this.#condition(source), triggerRule: source.triggerRule });
    const [sourceNodeId, sourceOutput = 'output'] = from;
    const [targetNodeId, targetInput = 'input'] = to;
    const id = `${this.#prefix}edge-${index}`;
    return {
      fragment: { from: from.join('.'), to: to.join('.'), ...rules },
      edge: { id, sourceNodeId, sourceOutput, targetNodeId, targetInput, ...rules },
    };
  }

  #config({ subChainRef, ...rest }: JsonObject): JsonObject {
    const filled = mapObjectStrings(rest, this.#binding.values.value);
    if (subChainRef === undefined) return filled;
    return { ...filled, ...bindSubChains(this.#chain, subChainRef, this.#children) };
  }

  /** References are renamed before values are inserted: a value that looks like a reference is data. */
  #compensation({ inputMapping, ...rest }: NonNullable<FragmentNode['compensation']>): JsonObject {
    const renamed =
      inputMapping &&
      mapObjectStrings(inputMapping as JsonObject, (text) =>
        text.replace(NODE_REFERENCE, (_reference, id: string) => `nodes.${this.#renamed(id)}`),
      );
    return mapObjectStrings({ ...rest, ...given({ inputMapping: renamed }) }, this.#binding.values.value);
  }

  #condition({ condition: source }: FragmentEdge): EdgeCondition | undefined {
    const { text, value } = this.#binding.values;
    if (source === undefined) return undefined;
    if (typeof source === 'string') return { type: 'expression', expression: text(source) };
    return {
      ...source,
      ...(source.left !== undefined && { left: text(source.left) }),
      ...(source.right !== undefined && { right: mapStrings(asJson(source.right), value) }),
      ...(source.expression !== undefined && { expression: text(source.expression) }),
    };
  }

  /**
   * Ports are identified before values are inserted: a parameter is data, and cannot turn an input into an
   * expression or a variable read.
   */
  #inputs(node: FragmentNode) {
    const inputs = Object.entries(node.inputs ?? {}).map(([name, template]) => {
      const isPort = portSchema.Check(template);
      const port = isPort ? this.#port(template) : this.#valuePort(asJson(template));
      if (!portSchema.Check(port))
        throw invalid(
          `With the parameters filled in, the input ${name} of the node ${node.id} names nothing.`,
          { nodeId: node.id, input: name },
        );
      return { name, port, plain: isPort || port.type !== 'static' ? port : port.value };
    });
    return {
      ports: Object.fromEntries(inputs.map(({ name, port }) => [name, port])),
      plain: Object.fromEntries(inputs.map(({ name, plain }) => [name, plain])),
    };
  }

  #port(template: PortValue): PortValue {
    const { text } = this.#binding.values;
    switch (template.type) {
      case 'static':
        return this.#valuePort(asJson(template.value));
      case 'expression':
        return { ...template, expression: text(template.expression) };
      case 'connection': {
        const nodeId = this.#renamed(text(template.nodeId));
        return { ...template, nodeId, outputKey: text(template.outputKey) };
      }
      case 'variable': {
        const variableName = text(template.variableName);
        return {
          ...template,
          variableName: this.#binding.variable(variableName)?.variableName ?? variableName,
        };
      }
    }
  }

  /** The variable of a parameter, or the value with all parameters inserted. */
  #valuePort(template: Json): PortValue {
    const parameter = typeof template === 'string' ? wholeToken(template) : undefined;
    const variable = parameter === undefined ? undefined : this.#binding.variable(parameter);
    return variable ?? { type: 'static', value: mapStrings(template, this.#binding.values.value) };
  }

  /** Ids of other nodes are unchanged. */
  #renamed(id: string): string {
    return this.#nodeIds.has(id) ? this.#prefix + id : id;
  }

  /** `node` or `node.port`. An id may contain a dot, so the whole text is tried first. */
  #endpoint(reference: string): readonly [nodeId: string, port?: string] {
    const dot = reference.indexOf('.');
    if (dot === -1 || this.#nodeIds.has(reference)) return [this.#renamed(reference)];
    return [this.#renamed(reference.slice(0, dot)), reference.slice(dot + 1)];
  }
}
