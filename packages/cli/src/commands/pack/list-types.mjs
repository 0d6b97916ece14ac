// For a process that may read the pack and nothing else: prints which node types its code offers.
import { readFileSync } from 'node:fs';
import process from 'node:process';

// Taken before the pack's code is there to change them.
const { stdout, exit, argv } = process;
const write = stdout.write.bind(stdout);
const mark = argv.at(-1);

const tell = (typeIds) => write(mark + JSON.stringify([...new Set(typeIds)]), () => exit(0));

/** As the host looks for them: `nodes`, then `default`, then `nodeHandlers`. */
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

/** ABI v1. Pairs come as two numbers or packed into one. What is imported is not called for this. */
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
