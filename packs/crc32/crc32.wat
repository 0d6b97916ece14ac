;; OpenWOP WASM ABI v1 by hand. Pairs are packed into an i64: pointer low, length high.
;;
;; Memory: 0..1023 constants, 1024..1151 the answer, 4096.. what the host allocates.
;; The host frees what it allocates after each call, so that a bump allocator which starts again when nothing
;; is held is enough.
(module
  (memory (export "memory") 2 256)
  (data (i32.const 0) "vendor.gantry.crc32")
  (data (i32.const 64) "vendor.gantry.crc32.inputs")
  (data (i32.const 128) "\"inputs\":")
  (data (i32.const 192) "{\"outcome\":\"completed\",\"output\":{\"bytes\":")
  (data (i32.const 256) ",\"crc32\":")
  (data (i32.const 320) "}}")
  (data (i32.const 384)
    "{\"outcome\":\"failed\",\"error\":{\"code\":\"inputs_missing\",\"message\":\"The request has no inputs.\"}}")

  (global $top (mut i32) (i32.const 4096))
  (global $held (mut i32) (i32.const 0))

  (func $pair (param $ptr i32) (param $len i32) (result i64)
    (i64.or
      (i64.extend_i32_u (local.get $ptr))
      (i64.shl (i64.extend_i32_u (local.get $len)) (i64.const 32))))

  (func (export "openwop_abi_version") (result i32) (i32.const 1))
  (func (export "openwop_pack_name") (result i64) (call $pair (i32.const 0) (i32.const 19)))
  (func (export "openwop_node_count") (result i32) (i32.const 1))
  (func (export "openwop_node_id_at") (param i32) (result i64) (call $pair (i32.const 64) (i32.const 26)))

  (func (export "openwop_alloc") (param $len i32) (result i32)
    (local $ptr i32) (local $end i32) (local $missing i32)
    (local.set $ptr (global.get $top))
    (local.set $end (i32.and (i32.add (i32.add (local.get $ptr) (local.get $len)) (i32.const 7)) (i32.const -8)))
    (local.set $missing
      (i32.sub (i32.shr_u (i32.add (local.get $end) (i32.const 65535)) (i32.const 16)) (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1)) (then (unreachable)))))
    (global.set $top (local.get $end))
    (global.set $held (i32.add (global.get $held) (i32.const 1)))
    (local.get $ptr))

  ;; Constants and the answer lie below what is allocated: nothing is held for them.
  (func (export "openwop_free") (param $ptr i32) (param $len i32)
    (if (i32.ge_u (local.get $ptr) (i32.const 4096))
      (then
        (global.set $held (i32.sub (global.get $held) (i32.const 1)))
        (if (i32.eqz (global.get $held)) (then (global.set $top (i32.const 4096)))))))

  ;; Whether the text at $at, before $end, starts with the constant.
  (func $startsWith (param $at i32) (param $end i32) (param $constant i32) (param $len i32) (result i32)
    (local $i i32)
    (if (i32.gt_u (i32.add (local.get $at) (local.get $len)) (local.get $end)) (then (return (i32.const 0))))
    (loop $next
      (if (i32.ne
            (i32.load8_u (i32.add (local.get $at) (local.get $i)))
            (i32.load8_u (i32.add (local.get $constant) (local.get $i))))
        (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $len))))
    (i32.const 1))

  ;; The end of the string whose opening quote is at $at: just after its closing quote.
  (func $stringEnd (param $at i32) (param $end i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $end))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $byte) (i32.const 0x5c))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next)))
      (br_if $next (i32.ne (local.get $byte) (i32.const 0x22))))
    (i32.add (local.get $at) (i32.const 1)))

  ;; +1 for an opening bracket, -1 for a closing one, else 0; one bit turns square into curly.
  (func $step (param $byte i32) (result i32)
    (local $curly i32)
    (local.set $curly (i32.or (local.get $byte) (i32.const 0x20)))
    (i32.sub
      (i32.eq (local.get $curly) (i32.const 0x7b))
      (i32.eq (local.get $curly) (i32.const 0x7d))))

  ;; Where the value of the outermost "inputs" begins; 0 when there is none.
  (func $inputsAt (param $at i32) (param $end i32) (result i32)
    (local $depth i32) (local $byte i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const 0))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $byte) (i32.const 0x22))
        (then
          (if (i32.and
                (i32.eq (local.get $depth) (i32.const 1))
                (call $startsWith (local.get $at) (local.get $end) (i32.const 128) (i32.const 9)))
            (then (return (i32.add (local.get $at) (i32.const 9)))))
          (local.set $at (call $stringEnd (local.get $at) (local.get $end)))
          (br $next)))
      (local.set $depth (i32.add (local.get $depth) (call $step (local.get $byte))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; The end of the object that begins at $at.
  (func $objectEnd (param $at i32) (param $end i32) (result i32)
    (local $depth i32) (local $byte i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $end))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $byte) (i32.const 0x22))
        (then (local.set $at (call $stringEnd (local.get $at) (local.get $end))) (br $next)))
      (local.set $depth (i32.add (local.get $depth) (call $step (local.get $byte))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (local.get $depth)))
    (local.get $at))

  (func $crc32 (param $at i32) (param $end i32) (result i32)
    (local $crc i32) (local $bit i32)
    (local.set $crc (i32.const -1))
    (block $done
      (loop $byte
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $crc (i32.xor (local.get $crc) (i32.load8_u (local.get $at))))
        (local.set $bit (i32.const 8))
        (loop $shift
          (local.set $crc
            (i32.xor
              (i32.shr_u (local.get $crc) (i32.const 1))
              (i32.and
                (i32.const 0xedb88320)
                (i32.sub (i32.const 0) (i32.and (local.get $crc) (i32.const 1))))))
          (local.set $bit (i32.sub (local.get $bit) (i32.const 1)))
          (br_if $shift (local.get $bit)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $byte)))
    (i32.xor (local.get $crc) (i32.const -1)))

  ;; Each writer answers where the next one writes.
  (func $writeText (param $at i32) (param $constant i32) (param $len i32) (result i32)
    (memory.copy (local.get $at) (local.get $constant) (local.get $len))
    (i32.add (local.get $at) (local.get $len)))

  (func $writeNumber (param $at i32) (param $value i32) (result i32)
    (if (i32.ge_u (local.get $value) (i32.const 10))
      (then
        (local.set $at
          (call $writeNumber (local.get $at) (i32.div_u (local.get $value) (i32.const 10))))))
    (i32.store8
      (local.get $at)
      (i32.add (i32.const 0x30) (i32.rem_u (local.get $value) (i32.const 10))))
    (i32.add (local.get $at) (i32.const 1)))

  (func (export "openwop_node_invoke") (param $node i32) (param $ptr i32) (param $len i32) (result i64)
    (local $start i32) (local $end i32) (local $at i32)
    (local.set $end (i32.add (local.get $ptr) (local.get $len)))
    (local.set $start (call $inputsAt (local.get $ptr) (local.get $end)))
    (if (i32.eqz (local.get $start)) (then (return (call $pair (i32.const 384) (i32.const 93)))))
    (local.set $end (call $objectEnd (local.get $start) (local.get $end)))
    (local.set $at (call $writeText (i32.const 1024) (i32.const 192) (i32.const 41)))
    (local.set $at (call $writeNumber (local.get $at) (i32.sub (local.get $end) (local.get $start))))
    (local.set $at (call $writeText (local.get $at) (i32.const 256) (i32.const 9)))
    (local.set $at (call $writeNumber (local.get $at) (call $crc32 (local.get $start) (local.get $end))))
    (local.set $at (call $writeText (local.get $at) (i32.const 320) (i32.const 2)))
    (call $pair (i32.const 1024) (i32.sub (local.get $at) (i32.const 1024)))))
