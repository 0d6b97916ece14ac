export const HEAD_BYTES_MAX: number;
export const BYTES_MAX: number;
export const FRAME_BYTES_MAX: number;
export const DEPTH_MAX: number;
export class TooLarge extends RangeError {}
/** One frame in pieces that are not copied. Throws `TooLarge`, or when the value is too deep or no data. */
export function encode(message: unknown): Uint8Array[];
export class Decoder {
  /** Of the frame that has begun; 0 between frames. */
  get size(): number;
  /** Every whole frame that this chunk completes; throws on a bad one. */
  push(chunk: Uint8Array): { readonly message: unknown; readonly size: number }[];
}
