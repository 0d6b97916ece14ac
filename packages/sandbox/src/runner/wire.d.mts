/** Each element of a list counts once, each member of an object ten times. */
export const VALUES_MAX: number;
export const DEPTH_MAX: number;
export function measure(json: Uint8Array): { readonly values: number; readonly isTooDeep: boolean };
export const HEAD_BYTES_MAX: number;
export const BYTES_MAX: number;
export const FRAME_BYTES_MAX: number;
/** Of a whole log entry or event. */
export const NOTE_BYTES_MAX: number;
export class TooLarge extends RangeError {}
/** One frame in pieces that are not copied. Throws `TooLarge`, or when the value is too deep or no data. */
export function encode(message: unknown): Uint8Array[] & { values: number };
export function sizeOf(pieces: readonly Uint8Array[]): number;
/** What a frame takes of the credit of its sender. */
export function costOfPieces(pieces: readonly Uint8Array[] & { readonly values: number }): number;
export interface Frame {
  readonly message: unknown;
  readonly size: number;
  /** What it takes of the credit of its sender. */
  readonly cost: number;
}
export class Decoder {
  /** Of the frame that has begun; 0 between frames. */
  get size(): number;
  /** Every whole frame that this chunk completes; throws on a bad one. */
  push(chunk: Uint8Array): Frame[];
}
