/** A WASM pack from text, in either convention for pairs. */
import wabt from 'wabt';
import type { PackCode } from '../invocation.ts';
import { packOf } from './sandbox.ts';

export type Pairs = 'packed' | 'multi-value';

const TEXTS = {
  name: 'vendor.test.wasm',
  hello: '{"outcome":"completed","output":{"hello":"world"}}',
  suspended: '{"outcome":"suspended","interrupt":{"kind":"approval","key":"k"}}',
  failed: '{"outcome":"failed","error":{"code":"no_luck","message":"no"}}',
  interrupt: '{"kind":"clarification","key":"why"}',
  variable: 'v',
  one: '1',
  line: 'from inside',
} as const;

const NODES = {
  'wasm.hello': '(return (call $pair HELLO))',
  'wasm.ask': '(call $interrupt INTERRUPT) DROP (return (call $pair HELLO))',
  'wasm.suspend': '(return (call $pair SUSPENDED))',
  'wasm.fail': '(return (call $pair FAILED))',
  'wasm.grow': '(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable',
  'wasm.trap': 'unreachable',
  'wasm.spin': '(loop $spin (br $spin))',
  'wasm.host':
    '(call $log (i32.const 2) LINE) (drop (call $set VARIABLE ONE)) (drop (call $now)) (call $random (i32.const 60000) (i32.const 40)) (return (call $pair HELLO))',
} as const;

/** Strings one after the other from address 16 on; each name becomes its two constants. */
function layout(): { data: string; constants: ReadonlyMap<string, string> } {
  const constants = new Map<string, string>();
  let address = 16;
  const entries = [...Object.entries(TEXTS), ...Object.keys(NODES).map((id): [string, string] => [id, id])];
  const data = entries.map(([name, text]) => {
    constants.set(name.toUpperCase(), `(i32.const ${address}) (i32.const ${text.length})`);
    const line = `(data (i32.const ${address}) "${text.replaceAll('"', '\\22')}")`;
    address += text.length;
    return line;
  });
  return { data: data.join('\n'), constants };
}

const CONVENTION = {
  packed: {
    result: 'i64',
    drop: 'drop',
    pair: '(i64.or (i64.extend_i32_u (local.get 0)) (i64.shl (i64.extend_i32_u (local.get 1)) (i64.const 32)))',
  },
  'multi-value': { result: 'i32 i32', drop: 'drop drop', pair: '(local.get 0) (local.get 1)' },
} as const;

/** `(if (i32.eq (local.get 0) (i32.const n)) (then ...))` for each node. */
const choose = (bodies: readonly string[]): string =>
  bodies.map((body, index) => `(if (i32.eq (local.get 0) (i32.const ${index})) (then ${body}))`).join('\n');

function moduleText(pairs: Pairs, abiVersion: number): string {
  const { result, drop, pair } = CONVENTION[pairs];
  const { data, constants } = layout();
  const fill = (text: string): string =>
    text.replace(/\b[A-Z]{3,}\b/g, (name) => (name === 'DROP' ? drop : (constants.get(name) ?? name)));
  const ids = Object.keys(NODES).map((id) => `(return (call $pair ${constants.get(id.toUpperCase())}))`);
  return `(module
    (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))
    (import "openwop" "openwop_interrupt" (func $interrupt (param i32 i32) (result ${result})))
    (import "openwop" "openwop_variable_set" (func $set (param i32 i32 i32 i32) (result i32)))
    (import "openwop" "openwop_now_ms" (func $now (result i64)))
    (import "openwop" "openwop_random" (func $random (param i32 i32)))
    (memory (export "memory") 1 65536)
    (global $heap (mut i32) (i32.const 8192))
    ${data}
    (func $pair (param i32 i32) (result ${result}) ${pair})
    (func (export "openwop_abi_version") (result i32) (i32.const ${abiVersion}))
    (func (export "openwop_pack_name") (result ${result}) (call $pair ${constants.get('NAME')}))
    (func (export "openwop_node_count") (result i32) (i32.const ${ids.length}))
    (func (export "openwop_node_id_at") (param i32) (result ${result}) ${choose(ids)} unreachable)
    (func (export "openwop_alloc") (param i32) (result i32)
      (global.get $heap) (global.set $heap (i32.add (global.get $heap) (local.get 0))))
    (func (export "openwop_free") (param i32 i32))
    (func (export "openwop_node_invoke") (param i32 i32 i32) (result ${result})
      ${choose(Object.values(NODES).map(fill))} unreachable))`;
}

export async function compileText(text: string): Promise<Uint8Array> {
  const module = (await wabt()).parseWat('pack.wat', text, { multi_value: true });
  return module.toBinary({}).buffer;
}

export const wasmModule = (pairs: Pairs, abiVersion = 1): Promise<Uint8Array> =>
  compileText(moduleText(pairs, abiVersion));

export async function wasmPack(pairs: Pairs, abiVersion = 1): Promise<PackCode> {
  const bytes = await wasmModule(pairs, abiVersion);
  return { ...(await packOf({ 'pack.wasm': bytes })), language: 'wasm', entry: 'pack.wasm' };
}

export const NODE_IDS = Object.keys(NODES);
