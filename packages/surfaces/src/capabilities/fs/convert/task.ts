/** The tasks of a converter, and their limits. */
import { ARCHIVE_BYTES_MAX } from '../archive/limits.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

const FITS = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
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

const ARCHIVE_FORMATS = ['zip', 'tar', 'tar-gz'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

export type ArchiveTask =
  /** One part for each path. */
  | { readonly op: 'create'; readonly format: ArchiveFormat; readonly paths: readonly string[] }
  | { readonly op: 'extract'; readonly format: ArchiveFormat };

export type Task =
  | ({ readonly kind: 'image' } & ImageTask)
  | ({ readonly kind: 'pdf' } & PdfTask)
  | ({ readonly kind: 'archive' } & ArchiveTask);

const MIB = 1_048_576;

/** Totals of all input parts and all output parts. */
export const BYTES_MAX: Readonly<Record<Task['kind'], Readonly<Record<'input' | 'output', number>>>> = {
  image: { input: 6 * MIB, output: 8 * MIB },
  pdf: { input: 6 * MIB, output: 8 * MIB },
  archive: { input: ARCHIVE_BYTES_MAX, output: ARCHIVE_BYTES_MAX },
};

export const PIXELS_MAX = 50_000_000;
export const SIDE_MAX = 8_192;
export const PAGES_MAX = 1_000;
export const TEXT_CHARACTERS_MAX = 2_000_000;

export const REFUSALS = [
  'validation_error',
  'file_too_large',
  'path_outside_sandbox',
  'fs_permission_denied',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** An expected failure, caused by the file or the request. */
export class Unconvertible extends Error {
  readonly code: Refusal;
  constructor(message: string, code: Refusal = 'validation_error') {
    super(message);
    this.code = code;
  }
}
