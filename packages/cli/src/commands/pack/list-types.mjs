// Prints the node types that the code of a pack offers. Runs in a process that can only read the pack.
import { readFileSync } from 'node:fs';
import process from 'node:process';

// Saved before the pack's code could change them.
const { stdout, exit, argv } = process;
const write = stdout.write.bind(stdout);
const mark = argv.at(-1);

const tell = (typeIds) => write(mark + JSON.stringify([...new Set(typeIds)]), () => exit(0));

/** In the order of the host: `nodes`, then `default`, then `nodeHandlers`. */
export function tellJavaScript(module) {
  const tables = [module.nodes, module.default, module.nodeHandlers];
  tell(
    tables.flatMap((table) =>
      Object.entries(table ?? {}).flatMap(([name, node]) => (typeof node === 'function' ? [name] : [])),
    ),
  );
}

const ABI_EXPORTS = [
  'memory',
  'openwop_abi_version',
  'openwop_pack_name',
  'openwop_node_count',
  'openwop_node_id_at',
  'openwop_alloc',
  'openwop_free',
  'openwop_node_invoke',
];

/** ABI v1. Pairs are two numbers or packed into one. Imported functions are not called for this. */
export function tellWasm(url) {
  const module = new WebAssembly.Module(readFileSync(new URL(url)));
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const missing = ABI_EXPORTS.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`ABI v1 asks for the exports ${missing.join(', ')}.`);
  const imported = WebAssembly.Module.imports(module).map(({ name }) => [name, () => 0]);
  const { exports } = new WebAssembly.Instance(module, { openwop: Object.fromEntries(imported) });
  const textOf = (pair) => {
    const [at, length] = Array.isArray(pair) ? pair : [pair & 0xffffffffn, BigInt.asUintN(32, pair >> 32n)];
    return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, Number(at), Number(length)));
  };
  tell(
    Array.from({ length: exports.openwop_node_count() }, (_, at) => textOf(exports.openwop_node_id_at(at))),
  );
}
