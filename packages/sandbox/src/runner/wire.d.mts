export const FRAME_BYTES_MAX: number;
export const DEPTH_MAX: number;
/** One frame. Throws when the value is too deep, too large or no data. */
export function encode(message: unknown): Uint8Array;
export class Decoder {
  /** Every whole frame that this chunk completes; throws on a bad one. */
  push(chunk: Uint8Array): { readonly message: unknown; readonly size: number }[];
}
