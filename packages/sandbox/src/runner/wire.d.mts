/** Each element of a list counts once, each member of an object ten times. */
export const VALUES_MAX: number;
export const DEPTH_MAX: number;
export function measure(json: Uint8Array): { readonly values: number; readonly isTooDeep: boolean };
export const HEAD_BYTES_MAX: number;
export const BYTES_MAX: number;
export const FRAME_BYTES_MAX: number;
/** The limit of a whole log entry or event. */
export const NOTE_BYTES_MAX: number;
export class TooLarge extends RangeError {}
/**
 * One frame in pieces that are not copied. Throws `TooLarge`, or another error when the value is too deep or
 * not data.
 */
export function encode(message: unknown): Uint8Array[] & { values: number };
export function sizeOf(pieces: readonly Uint8Array[]): number;
/** The part of its sender's credit that a frame uses. */
export function costOfPieces(pieces: readonly Uint8Array[] & { readonly values: number }): number;
export interface Frame {
  readonly message: unknown;
  readonly size: number;
  /** The part of its sender's credit that it uses. */
  readonly cost: number;
}
export class Decoder {
  /** The size of the current frame; 0 between frames. */
  get size(): number;
  /** All frames that this chunk completes; throws on an invalid one. */
  push(chunk: Uint8Array): Frame[];
}
