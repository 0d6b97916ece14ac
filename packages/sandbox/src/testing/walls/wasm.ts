/** WebAssembly through the real runner: what it may ask for is memory, tables, time and the five functions of the host. */

import type { PackCode } from '../../invocation.ts';
import type { Escape } from '../escapes/escape.ts';
import { packOf } from '../sandbox.ts';
import { compileText } from '../wasm.ts';

export interface WasmModule {
  readonly name: string;
  /** Beside the parts that every module of the ABI has. */
  readonly parts?: string;
  /** Of `openwop_node_invoke`. */
  readonly body: string;
  readonly expected: readonly string[];
}

const ID = 'test.node';

const textOf = ({ parts = '', body }: WasmModule): string => `(module
  (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))
  (import "openwop" "openwop_random" (func $random (param i32 i32)))
  (memory (export "memory") 1 65536)
  (data (i32.const 16) "${ID}")
  (table $table 1 externref)
  ${parts}
  (func $id (result i64) (i64.or (i64.const 16) (i64.shl (i64.const ${ID.length}) (i64.const 32))))
  (func (export "openwop_abi_version") (result i32) (i32.const 1))
  (func (export "openwop_pack_name") (result i64) (call $id))
  (func (export "openwop_node_count") (result i32) (i32.const 1))
  (func (export "openwop_node_id_at") (param i32) (result i64) (call $id))
  (func (export "openwop_alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "openwop_free") (param i32 i32))
  (func (export "openwop_node_invoke") (param i32 i32 i32) (result i64) ${body} unreachable))`;

export const wasmModule = async (module: WasmModule): Promise<PackCode> => ({
  ...(await packOf({ 'pack.wasm': await compileText(textOf(module)) })),
  language: 'wasm',
  entry: 'pack.wasm',
});

type Code = Extract<Escape['expected'], object>['code'];
const [failed, memory, timeout]: readonly Code[] = [
  'sandbox_invocation_error',
  'sandbox_memory_exceeded',
  'sandbox_timeout',
];
const ofMemory = [failed ?? '', memory ?? ''];

export const WASM_MODULES: readonly WasmModule[] = [
  { name: 'a loop', body: '(loop $more (br $more))', expected: [timeout ?? ''] },
  {
    name: 'a loop when loading',
    parts: '(func $spin (loop $more (br $more))) (start $spin)',
    body: '',
    expected: [timeout ?? ''],
  },
  {
    name: 'all memory, touched',
    body: `(loop $more
      (br_if $more (i32.ne (memory.grow (i32.const 64)) (i32.const -1))))
      (memory.fill (i32.const 0) (i32.const 1) (i32.mul (memory.size) (i32.const 65536)))`,
    expected: ofMemory,
  },
  {
    name: 'a table without end',
    body: `(loop $more (drop (table.grow $table (ref.null extern) (i32.const 1000000))) (br $more))`,
    expected: [...ofMemory, timeout ?? ''],
  },
  {
    name: 'a recursion without end',
    parts: '(func $deep (call $deep))',
    body: '(call $deep)',
    expected: [failed ?? ''],
  },
  {
    name: 'random bytes outside of its memory',
    body: '(call $random (i32.const 0) (i32.const 2147483647))',
    expected: [failed ?? '', 'sandbox_escape_attempt', 'sandbox_memory_exceeded'],
  },
  {
    name: 'a log of what lies outside of its memory',
    body: '(call $log (i32.const 2) (i32.const 65000) (i32.const 2000000000))',
    expected: [failed ?? '', 'sandbox_escape_attempt'],
  },
  {
    name: 'a result outside of its memory',
    body: '(return (i64.const -1))',
    expected: [failed ?? '', 'sandbox_escape_attempt'],
  },
  {
    name: 'functions of a system',
    parts: '',
    body: '(call $random (i32.const -1) (i32.const 16))',
    expected: [failed ?? '', 'sandbox_escape_attempt'],
  },
];
