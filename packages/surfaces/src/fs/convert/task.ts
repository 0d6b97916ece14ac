/** What a converter can be asked, and how much of it. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const FITS = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export const FORMATS = ['jpeg', 'png', 'webp', 'avif'] as const;
export type Format = (typeof FORMATS)[number];

export type ImageTask =
  | {
      readonly op: 'resize';
      readonly fit: (typeof FITS)[number];
      readonly width?: number;
      readonly height?: number;
    }
  | ({ readonly op: 'crop'; readonly x: number; readonly y: number } & Size)
  | { readonly op: 'convert'; readonly to: Format; readonly quality?: number };

export type PdfTask =
  | { readonly op: 'text' }
  | { readonly op: 'split'; readonly ranges: readonly string[] }
  | { readonly op: 'merge' };

export type Task = ({ readonly kind: 'image' } & ImageTask) | ({ readonly kind: 'pdf' } & PdfTask);

/** Of all parts that go in, and of all that come out. */
export const INPUT_BYTES_MAX = 6 * 1_048_576;
export const OUTPUT_BYTES_MAX = 8 * 1_048_576;
export const PIXELS_MAX = 50_000_000;
export const SIDE_MAX = 8_192;
export const PAGES_MAX = 1_000;
export const TEXT_CHARACTERS_MAX = 2_000_000;

/** An expected failure: the file, or what was asked of it, is at fault. */
export class Unconvertible extends Error {
  readonly isTooLarge: boolean;
  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}
