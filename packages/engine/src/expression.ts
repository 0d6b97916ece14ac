/**
 * The expression language: CEL's syntax and operators over JSON. The library only parses. This file and
 * `expression-functions.ts` evaluate, because the library's evaluator has no step limit, runs `matches` on
 * JavaScript's backtracking engine and separates integers from JSON numbers.
 *
 * I1 Only own JSON data is reachable. I2 Every step is charged, native functions by the size of the data they
 *    access.
 * I3 The result is JSON of bounded size.
 */
import type { Json, JsonObject } from '@gantry/protocol';
import { type ASTNode, type Path, parse, readsIn } from './expression-ast.ts';
import {
  COMPREHEND,
  channelValue,
  type Each,
  type Evaluate,
  ExpressionError,
  FUNCTIONS,
  fail,
  forgive,
  itemsOf,
  METHODS,
  type Meter,
  member,
  noSuch,
  OPERATORS,
  pay,
  truth,
} from './expression-functions.ts';
import { isReservedName, jsonSize } from './json.ts';
import { compileRegex, type Regex } from './regex.ts';

export { ExpressionError, type Meter } from './expression-functions.ts';

export const EXPRESSION_LIMITS = {
  lengthMax: 4_096,
  depthMax: 128,
  stepsMax: 250_000,
  resultMax: 1_048_576,
} as const;

export const openMeter = (): Meter => ({ stepsLeft: EXPRESSION_LIMITS.stepsMax });

export interface Expression {
  readonly text: string;
  /** The names it starts from, such as `variables`. */
  readonly roots: ReadonlySet<string>;
  /** The nodes it reads through `nodes`. */
  readonly nodeIds: ReadonlySet<string>;
  readonly channelNames: ReadonlySet<string>;
  readonly reads: readonly Path[];
  /** Throws `ExpressionError` only. */
  evaluate(roots: JsonObject, meter?: Meter): Json;
}

/** The initial values of channels, by name. */
type Channels = ReadonlyMap<string, { readonly initial?: Json }>;

/** Throws an `Error` whose message explains the problem with the text. */
export function compileExpression(
  text: string,
  allowedRoots: readonly string[],
  toRegex: (pattern: string) => Regex = compileRegex,
  channels: Channels = new Map(),
): Expression {
  if (text.length > EXPRESSION_LIMITS.lengthMax)
    throw new Error(`The expression is longer than ${EXPRESSION_LIMITS.lengthMax} characters`);
  const compiler = new Compiler(allowedRoots, toRegex, channels);
  const ast = parse(text);
  const run = compiler.compile(ast, 0);
  return {
    text,
    roots: compiler.roots,
    nodeIds: compiler.nodeIds,
    channelNames: compiler.channelNames,
    reads: readsIn(ast),
    evaluate(roots, meter = openMeter()) {
      const result = run({ roots, locals: [], meter });
      if (compiler.builds && jsonSize(result, EXPRESSION_LIMITS.resultMax) > EXPRESSION_LIMITS.resultMax)
        throw new ExpressionError('The value of the expression is larger than 1 MiB.');
      return result;
    },
  };
}

class Compiler {
  readonly roots = new Set<string>();
  readonly nodeIds = new Set<string>();
  readonly channelNames = new Set<string>();
  /** Whether it can create values larger than those it reads. */
  builds = false;
  readonly #allowed: readonly string[];
  readonly #toRegex: (pattern: string) => Regex;
  readonly #channels: Channels;
  readonly #locals: string[] = [];

  constructor(allowedRoots: readonly string[], toRegex: (pattern: string) => Regex, channels: Channels) {
    this.#allowed = allowedRoots;
    this.#toRegex = toRegex;
    this.#channels = channels;
  }

  compile(ast: ASTNode, depth: number): Evaluate {
    if (depth > EXPRESSION_LIMITS.depthMax) throw new Error('The expression is nested too deeply');
    const next = depth + 1;
    switch (ast.op) {
      case 'value':
        return this.#literal(ast.args);
      case 'id':
        return this.#identifier(ast.args);
      case '.':
        return this.#field(ast.args[0], ast.args[1], next);
      case '[]':
        return this.#index(ast.args[0], ast.args[1], next);
      case 'call':
        return this.#call(ast.args[0], ast.args[1], next);
      case 'rcall':
        return this.#method(ast.args[0], ast.args[1], ast.args[2], next);
      case 'list':
        return this.#list(ast.args, next);
      case 'map':
        return this.#map(ast.args, next);
      case '?:':
        return this.#ternary(ast.args, next);
      case '||':
      case '&&':
        return this.#logic(ast.op === '||', ast.args, next);
      case '!_':
      case '-_':
        return this.#unary(ast.op, ast.args, next);
      case '.?':
      case '[?]':
        throw new Error('Optional access is not part of the language; use has()');
      default:
        return this.#binary(ast.op, ast.args, next);
    }
  }

  #literal(value: unknown): Evaluate {
    if (typeof value === 'bigint') {
      const number = Number(value);
      if (!Number.isSafeInteger(number)) throw new Error(`The number ${value} is too large`);
      return () => number;
    }
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) {
      const json = value as Json;
      return () => json;
    }
    throw new Error('Bytes and unsigned numbers are not part of the language');
  }

  #identifier(name: string): Evaluate {
    const slot = this.#locals.lastIndexOf(name);
    if (slot !== -1) return (frame) => frame.locals[slot]!;
    if (name === 'nodes') throw new Error('Follow `nodes` with a node id: nodes.<id> or nodes["<id>"]');
    if (name === 'channels')
      throw new Error('Follow `channels` with a channel: channels.<name> or channels["<name>"]');
    if (!this.#allowed.includes(name))
      throw new Error(`There is no \`${name}\` here. Known names: ${this.#allowed.join(', ')}`);
    this.roots.add(name);
    return (frame) => frame.roots[name] ?? null;
  }

  /** The keys that are read of these two are known at compile time: only those are put into the scope. */
  #keyedRoot(ast: ASTNode): 'nodes' | 'channels' | undefined {
    if (ast.op !== 'id' || (ast.args !== 'nodes' && ast.args !== 'channels')) return;
    return this.#locals.includes(ast.args) ? undefined : ast.args;
  }

  #reference(root: 'nodes' | 'channels', key: string): Evaluate {
    if (!this.#allowed.includes(root)) throw new Error(`There is no \`${root}\` here`);
    this.roots.add(root);
    return root === 'nodes' ? this.#node(key) : this.#channel(key);
  }

  #node(nodeId: string): Evaluate {
    this.nodeIds.add(nodeId);
    return (frame) => (frame.roots.nodes as JsonObject)[nodeId] ?? null;
  }

  #channel(name: string): Evaluate {
    const channel = this.#channels.get(name);
    if (!channel) throw new Error(`The workflow has no channel ${name}`);
    this.channelNames.add(name);
    const { initial } = channel;
    return (frame) => channelValue(frame, name, initial);
  }

  #field(target: ASTNode, name: string, depth: number): Evaluate {
    const root = this.#keyedRoot(target);
    if (root) return this.#reference(root, name);
    const value = this.compile(target, depth);
    return (frame) => member(frame, value(frame), name);
  }

  #index(target: ASTNode, key: ASTNode, depth: number): Evaluate {
    const root = this.#keyedRoot(target);
    if (root) {
      if (key.op !== 'value' || typeof key.args !== 'string')
        throw new Error(`\`${root}[...]\` takes a name in quotes`);
      return this.#reference(root, key.args);
    }
    const value = this.compile(target, depth);
    const index = this.compile(key, depth);
    return (frame) => member(frame, value(frame), index(frame));
  }

  #call(name: string, args: readonly ASTNode[], depth: number): Evaluate {
    if (name === 'has') return this.#has(args, depth);
    const implementation = FUNCTIONS.get(name);
    if (!implementation || args.length !== 1) throw noSuch('function', name, args.length);
    const argument = this.compile(args[0]!, depth);
    return (frame) => implementation(frame, argument(frame), []);
  }

  /** `has(a.b.c)`: whether the whole path exists. */
  #has(args: readonly ASTNode[], depth: number): Evaluate {
    const [path] = args;
    if (args.length !== 1 || path?.op !== '.') throw new Error('has() takes a path such as has(a.b)');
    const value = this.compile(path, depth);
    return (frame) => {
      try {
        value(frame);
        return true;
      } catch (error) {
        forgive(frame, error);
        return false;
      }
    };
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[], depth: number): Evaluate {
    if (Object.hasOwn(COMPREHEND, name)) return this.#comprehension(name, receiver, args, depth);
    const target = this.compile(receiver, depth);
    if (name === 'matches') return this.#matches(target, args);
    const method = METHODS.get(name);
    if (!method || method.arity !== args.length) throw noSuch('method', name, args.length);
    if (name === 'split') this.builds = true;
    const values = args.map((arg) => this.compile(arg, depth));
    return (frame) =>
      method.run(
        frame,
        target(frame),
        values.map((value) => value(frame)),
      );
  }

  #matches(target: Evaluate, args: readonly ASTNode[]): Evaluate {
    const [pattern] = args;
    if (args.length !== 1 || pattern?.op !== 'value' || typeof pattern.args !== 'string')
      throw new Error('matches() requires a string literal');
    const regex = this.#toRegex(pattern.args);
    return (frame) => {
      const text = target(frame);
      if (typeof text !== 'string') return fail('matches() requires text.');
      pay(frame, regex.work(text.length));
      return regex.test(text);
    };
  }

  #list(args: readonly ASTNode[], depth: number): Evaluate {
    this.builds = true;
    const items = args.map((arg) => this.compile(arg, depth));
    return (frame) => {
      pay(frame, items.length + 1);
      return items.map((item) => item(frame));
    };
  }

  #map(entries: readonly (readonly [ASTNode, ASTNode])[], depth: number): Evaluate {
    this.builds = true;
    const compiled = entries.map(([key, value]) => {
      if (key.op !== 'value' || typeof key.args !== 'string' || isReservedName(key.args))
        throw new Error('Keys of a map must be string literals');
      return [key.args, this.compile(value, depth)] as const;
    });
    if (new Set(compiled.map(([key]) => key)).size < compiled.length)
      throw new Error('The map has a duplicate key');
    return (frame) => {
      pay(frame, compiled.length + 1);
      const result: JsonObject = {};
      for (const [key, value] of compiled) result[key] = value(frame);
      return result;
    };
  }

  #ternary(args: readonly [ASTNode, ASTNode, ASTNode], depth: number): Evaluate {
    const condition = this.compile(args[0], depth);
    const yes = this.compile(args[1], depth);
    const no = this.compile(args[2], depth);
    return (frame) => (truth(frame, condition(frame)) ? yes(frame) : no(frame));
  }

  /** As in CEL, an error on one side is ignored when the other side decides. */
  #logic(decisive: boolean, args: readonly [ASTNode, ASTNode], depth: number): Evaluate {
    const left = this.compile(args[0], depth);
    const right = this.compile(args[1], depth);
    return (frame) => {
      try {
        if (truth(frame, left(frame)) === decisive) return decisive;
      } catch (error) {
        forgive(frame, error);
        if (truth(frame, right(frame)) === decisive) return decisive;
        throw error;
      }
      return truth(frame, right(frame));
    };
  }

  #unary(op: '!_' | '-_', arg: ASTNode, depth: number): Evaluate {
    const value = this.compile(arg, depth);
    if (op === '!_') return (frame) => !truth(frame, value(frame));
    return (frame) => {
      const number = value(frame);
      pay(frame, 1);
      return typeof number === 'number' ? -number : fail('Only numbers can be negated.');
    };
  }

  #binary(op: string, args: readonly ASTNode[], depth: number): Evaluate {
    const operator = OPERATORS.get(op);
    if (!operator) throw new Error(`The operator ${op} is not part of the language`);
    if (op === '+') this.builds = true;
    const left = this.compile(args[0]!, depth);
    const right = this.compile(args[1]!, depth);
    return (frame) => operator(frame, left(frame), right(frame));
  }

  #comprehension(name: string, receiver: ASTNode, args: readonly ASTNode[], depth: number): Evaluate {
    const [variable, ...bodies] = args;
    if (variable?.op !== 'id' || bodies.length !== 1)
      throw new Error(`${name}() takes a name and an expression: list.${name}(x, ...)`);
    const items = this.compile(receiver, depth);
    const slot = this.#locals.push(variable.args) - 1;
    const body = this.compile(bodies[0]!, depth);
    this.#locals.pop();
    if (name === 'map') this.builds = true;
    const each: Each = (frame, item) => {
      pay(frame, 2);
      frame.locals[slot] = item;
      return body(frame);
    };
    return (frame) => COMPREHEND[name]!(frame, itemsOf(frame, items(frame)), each);
  }
}
