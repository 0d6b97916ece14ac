/**
 * Freezes the intrinsics of the language, so that pack code cannot change functions that the runner calls.
 * Node's own `--frozen-intrinsics` does the same in 25 ms of each start; this takes 7.
 */
const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { ownKeys } = Reflect;

const NAMES =
  'AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Int16Array Int32Array Int8Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly'.split(
    ' ',
  );

/** Values whose prototypes are reachable by syntax only, not by a name. */
const unnamed = [
  async () => {},
  function* () {},
  async function* () {},
  [].values(),
  new Map().values(),
  new Set().values(),
  ''.matchAll(/./g),
  ''[Symbol.iterator](),
  Iterator.from({ next: () => ({ done: true }) }),
  [].values().map((value) => value),
];

/** Programs assign to inherited members of such objects: `error.name = 'X'`, `chunks.push = load`. */
const ASSIGNED =
  'Array Date Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError Function Map Object Promise RegExp Set String Uint8Array'.split(
    ' ',
  );

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Freezes a member, but lets objects that inherit it define their own. */
function keepAssignable(owner, name, { value, enumerable }) {
  const get = () => value;
  function set(own) {
    if (this === owner) throw new TypeError(`Cannot assign to read only property '${String(name)}'`);
    defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
  }
  defineProperty(owner, name, { get: freeze(get), set: freeze(set), enumerable, configurable: false });
}

export function freezeIntrinsics() {
  const assigned = new Set(ASSIGNED.map((name) => globalThis[name].prototype));
  assigned.add(getPrototypeOf(Uint8Array.prototype));
  const seen = new Set();
  const visit = (value) => {
    if (!isObject(value) || seen.has(value)) return;
    seen.add(value);
    for (const name of ownKeys(value)) {
      const member = getOwnPropertyDescriptor(value, name);
      visit(member.value);
      visit(member.get);
      visit(member.set);
      if (member.writable && member.configurable && assigned.has(value)) keepAssignable(value, name, member);
    }
    visit(getPrototypeOf(value));
    freeze(value);
  };
  for (const name of NAMES) visit(globalThis[name]);
  for (const value of unnamed) visit(getPrototypeOf(value));
}
