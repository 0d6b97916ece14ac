/**
 * Finds the surfaces that JavaScript calls, by following `ctx` through its variables, parameters, members and
 * results. Code that hides its calls is stopped at run time by the grant. The scan must report what it cannot
 * follow.
 *
 * I1  No code is run, and the time is bounded by its size: each pass visits every node once.
 * I2  Values only grow, so the passes end. If they do not within PASSES_MAX, that is reported too.
 */
import type { Node } from 'acorn';
import type { CalledSurfaces, FilePosition } from './called-surfaces.ts';
import { declaredNames, isNode, type JsNode, keyText, membersOf, parsed } from './syntax.ts';
import {
  at,
  type Fn,
  holdsSurfaces,
  merge,
  nothing,
  type Scope,
  surfaceAt,
  text,
  union,
  unknown,
  type Value,
} from './value.ts';

const PASSES_MAX = 20;
const ARRAY_CALLS = new Set(['map', 'forEach', 'filter', 'find', 'flatMap', 'some', 'every', 'reduce']);
/** Some node functions take their inputs first. */
const CTX_NAMES = ['ctx', 'context'];

const NOWHERE = { file: '', line: 1, column: 1 } as const;

type Files = readonly { readonly file: string; readonly source: string }[];

export const scanJavaScript = (files: Files, typeIds: readonly string[]): CalledSurfaces =>
  new Scan(files, typeIds).run();

const scopeOf = (node: JsNode, parent?: Scope): Scope => {
  const bindings = new Map(declaredNames(node).map((name) => [name, nothing()] as const));
  return { parent, bindings, returns: nothing() };
};

class Scan {
  readonly #typeIds: ReadonlySet<string>;
  readonly #served = new Set<string>();
  readonly #called = new Map<string, FilePosition>();
  readonly #unparsed = new Map<string, FilePosition>();
  /** From the last pass: earlier passes do not know all values yet. */
  readonly #unknown = new Map<string, FilePosition>();
  readonly #modules: { file: string; program: JsNode; scope: Scope }[] = [];
  readonly #fns = new Map<Node, Fn>();
  /** Members of objects in the code, by name only. */
  readonly #members = new Map<string, Value>();
  #file = '';
  #grew = false;

  constructor(files: Files, typeIds: readonly string[]) {
    this.#typeIds = new Set(typeIds);
    for (const { file, source } of files)
      try {
        const program = parsed(source);
        this.#modules.push({ file, program, scope: scopeOf(program) });
      } catch {
        this.#unparsed.set(`${file} cannot be parsed`, { ...NOWHERE, file });
      }
  }

  run(): CalledSurfaces {
    for (let passes = 0; passes === 0 || this.#grew; passes++) {
      this.#grew = false;
      this.#unknown.clear();
      if (passes === PASSES_MAX) {
        this.#unknown.set('the code is too involved to be followed', NOWHERE);
        break;
      }
      for (const { file, program, scope } of this.#modules) {
        this.#file = file;
        this.#all(program, scope);
      }
    }
    for (const typeId of this.#typeIds)
      if (!this.#served.has(typeId)) this.#unknown.set(`the function of ${typeId} was not found`, NOWHERE);
    return { called: this.#called, unknown: new Map([...this.#unparsed, ...this.#unknown]) };
  }

  #all(node: JsNode, scope: Scope): Value {
    for (const child of membersOf(node)) this.#value(child, scope);
    return unknown();
  }

  /** The value of a node. Visits all nodes below it. */
  #value(node: JsNode | null | undefined, scope: Scope): Value {
    if (!node) return unknown();
    switch (node.type) {
      case 'Identifier':
        return this.#variable(node.name, scope);
      case 'Literal':
        return typeof node.value === 'string' ? text(node.value) : unknown();
      case 'TemplateLiteral':
        this.#all(node, scope);
        return node.expressions.length === 0 ? text(node.quasis[0]?.value.cooked ?? '') : unknown();
      case 'ChainExpression':
      case 'ParenthesizedExpression':
        return this.#value(node.expression, scope);
      case 'AwaitExpression':
      case 'SpreadElement':
        return this.#value(node.argument, scope);
      case 'LogicalExpression':
        return union(this.#value(node.left, scope), this.#value(node.right, scope));
      case 'ConditionalExpression':
        this.#value(node.test, scope);
        return union(this.#value(node.consequent, scope), this.#value(node.alternate, scope));
      case 'SequenceExpression':
        return node.expressions.map((each) => this.#value(each, scope)).at(-1) ?? unknown();
      case 'MemberExpression':
        return this.#memberOf(node, this.#value(node.object, scope), this.#keys(node, node.property, scope));
      case 'ArrayExpression':
        return union(...node.elements.map((each) => this.#value(each, scope)));
      case 'ObjectExpression':
        return this.#object(node, scope);
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node, scope);
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return this.#function(node, scope);
      case 'ClassDeclaration':
      case 'ClassExpression':
        return this.#class(node, scope);
      default:
        return this.#statement(node, scope);
    }
  }

  #statement(node: JsNode, scope: Scope): Value {
    switch (node.type) {
      case 'VariableDeclarator':
        if (node.init) this.#assign(node.id, this.#value(node.init, scope), scope);
        return unknown();
      case 'AssignmentExpression': {
        const value = this.#value(node.right, scope);
        this.#assign(node.left, value, scope);
        return value;
      }
      case 'ForOfStatement': {
        const { left, right, body } = node;
        const target = left.type === 'VariableDeclaration' ? left.declarations[0]?.id : left;
        if (target) this.#assign(target, this.#value(right, scope), scope);
        return this.#value(body, scope);
      }
      case 'ReturnStatement':
        this.#merge(scope.returns, this.#value(node.argument, scope));
        return unknown();
      case 'ImportDeclaration':
        for (const { local, ...from } of node.specifiers) {
          const name = 'imported' in from ? keyText(from.imported) : undefined;
          this.#merge(scope.bindings.get(local.name), this.#exported(String(node.source.value), name));
        }
        return unknown();
      case 'ImportExpression':
      case 'WithStatement':
        if (!('source' in node) || node.source.type !== 'Literal') this.#cannotTell(node, node.type);
        return this.#all(node, scope);
      default:
        return this.#all(node, scope);
    }
  }

  #variable(name: string, scope: Scope | undefined): Value {
    for (let each = scope; each; each = each.parent) {
      const found = each.bindings.get(name);
      if (found) return found;
    }
    // Code that reads its arguments by index may read ctx.
    return name === 'arguments' ? at('') : unknown();
  }

  /** The export of another file of the pack; other modules are unknown. */
  #exported(source: string, name: string | undefined): Value {
    const file = source.slice(source.lastIndexOf('/') + 1);
    const module = source.startsWith('.') && this.#modules.find((one) => one.file.endsWith(file));
    return (module && name !== undefined && module.scope.bindings.get(name)) || unknown();
  }

  #keys({ computed }: { readonly computed: boolean }, key: JsNode, scope: Scope): Value {
    return computed ? this.#value(key, scope) : text(keyText(key) ?? '');
  }

  #memberOf(node: JsNode, object: Value, keys: Value): Value {
    if ('property' in node && node.property.type === 'Literal' && typeof node.property.value === 'number')
      return object;
    const found = nothing();
    for (const path of object.paths) {
      if (keys.other) this.#cannotTell(node, `ctx${path && `.${path}`}[…]`);
      for (const key of keys.strings) merge(found, this.#surface(node, path === '' ? key : `${path}.${key}`));
    }
    for (const key of keys.strings) merge(found, this.#members.get(key) ?? nothing());
    if (found.paths.size === 0) found.other = true;
    return found;
  }

  #surface(node: JsNode, path: string): Value {
    const capability = surfaceAt(path);
    if (capability !== undefined && !this.#called.has(capability))
      this.#called.set(capability, this.#positionOf(node));
    return capability === undefined && holdsSurfaces(path) ? at(path) : unknown();
  }

  #object(node: JsNode & { type: 'ObjectExpression' }, scope: Scope): Value {
    const spread: Value[] = [];
    for (const member of node.properties) {
      const value = this.#value(member.type === 'SpreadElement' ? member.argument : member.value, scope);
      if (member.type === 'SpreadElement') spread.push(value);
      else this.#put(this.#keys(member, member.key, scope), value);
    }
    return union(unknown(), ...spread);
  }

  /** Stores a member of some object. The host calls the member named after a node type id with ctx. */
  #put(keys: Value, value: Value): void {
    for (const key of keys.strings) {
      if (!this.#members.has(key)) this.#members.set(key, nothing());
      this.#merge(this.#members.get(key), value);
      if (!this.#typeIds.has(key) || value.fns.size === 0) continue;
      this.#served.add(key);
      for (const { node, scope } of value.fns) {
        const param = node.params.find((one) => one.type === 'Identifier' && CTX_NAMES.includes(one.name));
        const given = param ?? node.params[0];
        if (given) this.#assign(given, at(''), scope);
      }
    }
  }

  #assign(target: JsNode, value: Value, scope: Scope): void {
    switch (target.type) {
      case 'Identifier':
        this.#merge(this.#variable(target.name, scope), value);
        break;
      case 'MemberExpression':
        this.#value(target.object, scope);
        this.#put(this.#keys(target, target.property, scope), value);
        break;
      case 'AssignmentPattern':
        this.#assign(target.left, union(value, this.#value(target.right, scope)), scope);
        break;
      case 'RestElement':
        this.#assign(target.argument, value, scope);
        break;
      case 'ArrayPattern':
        for (const item of target.elements) if (item) this.#assign(item, value, scope);
        break;
      case 'ObjectPattern':
        for (const member of target.properties) {
          if (member.type === 'RestElement') this.#assign(member.argument, value, scope);
          else {
            const keys = this.#keys(member, member.key, scope);
            this.#assign(member.value, this.#memberOf(member, value, keys), scope);
          }
        }
        break;
    }
  }

  #function(node: Fn['node'] & JsNode, scope: Scope): Value {
    const fn = this.#fns.get(node) ?? { node, scope: scopeOf(node, scope) };
    this.#fns.set(node, fn);
    if ('id' in node && node.id && node.type === 'FunctionDeclaration')
      this.#merge(this.#variable(node.id.name, scope), { ...nothing(), fns: new Set([fn]) });
    for (const param of node.params) this.#assign(param, nothing(), fn.scope);
    if (!('body' in node) || !isNode(node.body)) return unknown();
    const result = this.#value(node.body, fn.scope);
    if (node.body.type !== 'BlockStatement') this.#merge(fn.scope.returns, result);
    return { ...nothing(), fns: new Set([fn]) };
  }

  /** Creating an instance calls the constructor; methods are members. */
  #class(node: JsNode & { type: 'ClassDeclaration' | 'ClassExpression' }, scope: Scope): Value {
    const made = nothing();
    for (const member of node.body.body) {
      if (!('value' in member)) {
        this.#value(member, scope);
        continue;
      }
      const value = this.#value(member.value, scope);
      if ('kind' in member && member.kind === 'constructor') merge(made, value);
      else this.#put(text(keyText(member.key) ?? ''), value);
    }
    if (node.id) this.#merge(this.#variable(node.id.name, scope), made);
    return made;
  }

  #call(node: JsNode & { type: 'CallExpression' | 'NewExpression' }, scope: Scope): Value {
    const { callee } = node;
    const called = this.#value(callee, scope);
    const given = node.arguments.map((each) => this.#value(each, scope));
    if (called.fns.size > 0) {
      for (const fn of called.fns)
        fn.node.params.forEach((param, index) => {
          const isRest =
            node.arguments.some(({ type }) => type === 'SpreadElement') || param.type === 'RestElement';
          this.#assign(param, isRest ? union(...given) : (given[index] ?? nothing()), fn.scope);
        });
      return union(...[...called.fns].map((fn) => fn.scope.returns));
    }
    if (callee.type === 'Identifier' && ['eval', 'Function'].includes(callee.name))
      this.#cannotTell(node, callee.name);
    const isOfArray = callee.type === 'MemberExpression' && ARRAY_CALLS.has(keyText(callee.property) ?? '');
    const owner = isOfArray ? this.#value(callee.object, scope) : nothing();
    for (const { fns } of given)
      for (const { node: fn, scope: inner } of fns)
        fn.params.forEach((param, index) => {
          this.#assign(param, index === 0 ? union(unknown(), owner) : unknown(), inner);
        });
    if (given.some(({ paths }) => paths.size > 0))
      this.#cannotTell(node, 'ctx is handed to code that is not in the pack');
    return unknown();
  }

  #merge(into: Value | undefined, more: Value): void {
    if (into && merge(into, more)) this.#grew = true;
  }

  #cannotTell(node: JsNode, what: string): void {
    const position = this.#positionOf(node);
    this.#unknown.set(`${what} in ${position.file}:${position.line}`, position);
  }

  #positionOf(node: JsNode | Node): FilePosition {
    const { line, column } = node.loc?.start ?? { line: 1, column: 0 };
    return { file: this.#file, line, column: column + 1 };
  }
}
