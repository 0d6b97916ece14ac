/**
 * An assembler for the filters of seccomp: a sequence of questions about one system call, each with the steps that
 * follow if it is answered so. Steps that follow have to end in a verdict, so every jump goes forward and is short.
 */
const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const STEP_BYTES = 8;
const JUMP_MAX = 255;

interface Step {
  readonly code: number;
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

export type Steps = readonly Step[];

const step = (code: number, operand: number, whenTrue = 0, whenFalse = 0): Step => ({
  code,
  whenTrue,
  whenFalse,
  operand,
});

/** Offsets in what the kernel says of a call: its number, the machine, eight bytes for each argument. */
export const CALL_NUMBER = 0;
export const MACHINE = 4;
export const argument = (index: number): number => 16 + 8 * index;
export const upperHalfOf = (offset: number): number => offset + 4;

export const load = (offset: number): Steps => [step(LOAD_WORD, offset)];
export const verdict = (value: number): Steps => [step(RETURN, value)];

function skipping(then: Steps): number {
  if (then.length > JUMP_MAX) throw new RangeError(`A jump over ${then.length} steps is too long.`);
  return then.length;
}

export const whenEqual = (value: number, then: Steps): Steps => [
  step(JUMP_EQUAL, value, 0, skipping(then)),
  ...then,
];

export const unlessEqual = (value: number, then: Steps): Steps => [
  step(JUMP_EQUAL, value, skipping(then), 0),
  ...then,
];

export const whenAnyBit = (bits: number, then: Steps): Steps => [
  step(JUMP_ANY_BIT, bits, 0, skipping(then)),
  ...then,
];

/** As the kernel reads it; both machines that are served are little-endian. */
export function assemble(steps: Steps): Buffer {
  const bytes = Buffer.alloc(steps.length * STEP_BYTES);
  for (const [index, { code, whenTrue, whenFalse, operand }] of steps.entries()) {
    const at = index * STEP_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(whenTrue, at + 2);
    bytes.writeUInt8(whenFalse, at + 3);
    bytes.writeUInt32LE(operand, at + 4);
  }
  return bytes;
}
