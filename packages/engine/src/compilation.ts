import {
  didYouMean,
  type EdgeCondition,
  given,
  type Json,
  type JsonObject,
  type WorkflowDefinition,
  type WorkflowNode,
  type WorkflowVariable,
} from '@gantry/protocol';
import type { ArtifactTypes } from './artifacts/node-artifact.ts';
import { harvestedNames } from './children/mapping.ts';
import type { Condition } from './condition.ts';
import { compileExpression, type Expression } from './expression.ts';
import type { Path } from './expression-ast.ts';
import { asJson } from './json.ts';
import type { Sha256 } from './mask.ts';
import { inputNames } from './node-inputs.ts';
import { NODE_TYPES } from './nodes/index.ts';
import type { NodeType } from './nodes/node-type.ts';
import { type PackTypes, packNode } from './nodes/pack-node.ts';
import type { PlanChannel } from './plan.ts';
import { checkRead } from './read-paths.ts';
import { compileRegex, type Regex } from './regex.ts';
import type { CompileSchema, SchemaCheck } from './schema.ts';
import { EDGE_ROOTS, PORT_ROOTS } from './scope.ts';

export interface DefinitionIssue {
  /** JSON Pointer into the definition. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /** What to do about it, as a sentence. */
  readonly fix?: string;
  readonly code?: 'capability_required' | 'validation_error';
  readonly details?: JsonObject;
}

export type DefinitionWarning = Pick<DefinitionIssue, 'path' | 'message' | 'fix'>;

/** A definition that cannot run, with all of its issues, and probable mistakes found with them. */
export class DefinitionError extends Error {
  readonly issues: readonly DefinitionIssue[];
  readonly warnings: readonly DefinitionWarning[];

  constructor(issues: readonly DefinitionIssue[], warnings: readonly DefinitionWarning[] = []) {
    super(issues.map((issue) => `${issue.path}: ${issue.message}`).join('\n'));
    this.name = 'DefinitionError';
    this.issues = issues;
    this.warnings = warnings;
  }
}

/** The maximum number of suggested names: with thousands of problems and names the search would take seconds. */
const SUGGESTIONS_MAX = 100;
const WARNINGS_MAX = 200;

const CONDITION_TYPES = ['equals', 'notEquals', 'contains', 'regex', 'truthy', 'falsy'];

/** Limits on the total cost of compiling one definition. */
const EXPRESSION_CHARS_MAX = 262_144;
const REGEXES_MAX = 100;

/** The dependencies of a definition that it does not contain. */
export interface Brought {
  readonly compileSchema: CompileSchema;
  readonly sha256?: Sha256;
  readonly packTypes?: PackTypes;
  readonly artifactTypes?: ArtifactTypes;
}

const NONE = (): undefined => undefined;

/** The compilation of one definition: collects issues, and compiles each distinct text once. */
export class Compilation {
  readonly definition: WorkflowDefinition;
  readonly variables: ReadonlyMap<string, WorkflowVariable>;
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  /** Filled before they are read. */
  readonly channels = new Map<string, PlanChannel>();
  /** Probable mistakes of the author that do not prevent a run. */
  readonly warnings: DefinitionWarning[] = [];
  readonly inputNames: ReadonlyMap<string, ReadonlySet<string>>;
  /** Declared variables, and those that mappings of children write. */
  readonly writtenVariables: ReadonlySet<string>;
  readonly #issues: DefinitionIssue[] = [];
  #suggestions = 0;
  readonly #expressions = new Map<string, Expression>();
  readonly #regexes = new Map<string, Regex>();
  #expressionChars = 0;

  readonly artifactTypes: ArtifactTypes;
  readonly sha256: Sha256 | undefined;
  readonly #compileSchema: CompileSchema;
  readonly #packTypes: PackTypes;

  constructor(definition: WorkflowDefinition, brought: Brought) {
    this.definition = definition;
    this.#compileSchema = brought.compileSchema;
    this.#packTypes = brought.packTypes ?? NONE;
    this.artifactTypes = brought.artifactTypes ?? NONE;
    this.sha256 = brought.sha256;
    this.variables = new Map(definition.variables.map((variable) => [variable.name, variable]));
    this.nodes = new Map(definition.nodes.map((node) => [node.id, node]));
    this.inputNames = inputNames(definition);
    this.writtenVariables = new Set([...this.variables.keys(), ...definition.nodes.flatMap(harvestedNames)]);
  }

  issue(path: string, message: string, rest: Omit<DefinitionIssue, 'path' | 'message'> = {}): void {
    this.#issues.push({ path, message, ...rest });
  }

  /** What was probably meant, as a fix. */
  suggestion(word: string, known: Iterable<string>): string | undefined {
    const hint = this.#suggestions++ < SUGGESTIONS_MAX ? didYouMean(word, [...known]) : '';
    return hint.trim() || undefined;
  }

  /** Whether there is such a node; reports an issue if not. */
  checkNodeId(path: string, nodeId: string): boolean {
    if (this.nodes.has(nodeId)) return true;
    this.issue(
      path,
      `There is no node ${nodeId}`,
      given({ fix: this.suggestion(nodeId, this.nodes.keys()) }),
    );
    return false;
  }

  warn(path: string, message: string, fix?: string): void {
    if (this.warnings.length < WARNINGS_MAX) this.warnings.push({ path, message, ...given({ fix }) });
  }

  throwIfWrong(): void {
    if (this.#issues.length > 0) throw new DefinitionError(this.#issues, this.warnings);
  }

  /** Types of packs never replace built-in types, unless the built-in type yields. */
  typeOf(typeId: string): NodeType | undefined {
    const builtIn = NODE_TYPES.get(typeId);
    if (builtIn && !builtIn.yields) return builtIn;
    const pack = this.#packTypes(typeId);
    return pack ? packNode(pack) : builtIn;
  }

  schema(path: string, schema: Json): SchemaCheck | undefined {
    const check = this.#compileSchema(schema);
    if (typeof check !== 'string') return check;
    this.issue(path, check);
    return;
  }

  /** `inputs` are the inputs of a node that evaluates the expression itself; by default those of the run. */
  expression(
    path: string,
    text: Json | undefined,
    roots: readonly string[],
    inputs?: ReadonlySet<string>,
  ): Expression | undefined {
    if (typeof text !== 'string' || text === '') {
      this.issue(path, 'An expression must be a string');
      return;
    }
    const expression = this.#expressionOf(path, text, roots);
    for (const id of expression?.nodeIds ?? []) this.checkNodeId(path, id);
    for (const read of expression?.reads ?? []) checkRead(this, path, read, inputs);
    return expression;
  }

  #expressionOf(path: string, text: string, roots: readonly string[]): Expression | undefined {
    const key = `${roots.length} ${text}`;
    const known = this.#expressions.get(key);
    if (known) return known;
    this.#expressionChars += text.length;
    if (this.#expressionChars > EXPRESSION_CHARS_MAX) {
      this.issue(
        path,
        `The expressions of a workflow have at most ${EXPRESSION_CHARS_MAX} characters in all`,
      );
      return;
    }
    const expression = this.#attempt(path, () =>
      compileExpression(text, roots, (pattern) => this.#regex(pattern), this.channels),
    );
    if (expression) this.#expressions.set(key, expression);
    return expression;
  }

  /** A condition of an edge, or of a node that evaluates its `inputs`. */
  condition(path: string, spec: EdgeCondition, inputs?: ReadonlySet<string>): Condition | undefined {
    const type = spec.type ?? (spec.expression === undefined ? 'truthy' : 'expression');
    if (type === 'expression') {
      const roots = inputs ? PORT_ROOTS : EDGE_ROOTS;
      const expression = this.expression(`${path}/expression`, spec.expression, roots, inputs);
      return expression && { type, expression };
    }
    if (!CONDITION_TYPES.includes(type)) {
      this.issue(`${path}/type`, `The type of a condition must be expression, ${CONDITION_TYPES.join(', ')}`);
      return;
    }
    if (typeof spec.left !== 'string' || spec.left === '') {
      this.issue(`${path}/left`, `A condition of type ${type} needs the path of a value in \`left\``);
      return;
    }
    const left: Path = spec.left.split('.');
    if (inputs) checkRead(this, `${path}/left`, ['inputs', left[0]!], inputs);
    if (type === 'truthy' || type === 'falsy') return { type, path: left };
    if (type === 'regex') return this.#regexCondition(path, left, spec.right);
    if (spec.right === undefined) {
      this.issue(`${path}/right`, `A condition of type ${type} needs a value in \`right\``);
      return;
    }
    return { type, path: left, right: asJson(spec.right) };
  }

  #regexCondition(path: string, left: Path, pattern: unknown): Condition | undefined {
    if (typeof pattern !== 'string') {
      this.issue(`${path}/right`, 'A pattern must be a string');
      return;
    }
    const regex = this.#attempt(`${path}/right`, () => this.#regex(pattern));
    return regex && { type: 'regex', path: left, regex };
  }

  #regex(pattern: string): Regex {
    const known = this.#regexes.get(pattern);
    if (known) return known;
    if (this.#regexes.size >= REGEXES_MAX) throw new Error(`A workflow has at most ${REGEXES_MAX} patterns`);
    const regex = compileRegex(pattern);
    this.#regexes.set(pattern, regex);
    return regex;
  }

  #attempt<Value>(path: string, make: () => Value): Value | undefined {
    try {
      return make();
    } catch (error) {
      this.issue(path, error instanceof Error ? error.message : String(error));
      return;
    }
  }
}
