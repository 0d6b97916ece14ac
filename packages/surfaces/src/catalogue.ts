/** Every surface that this host can have. A new one adds its line here. */
import { blobSurface } from './blob/surface.ts';
import { cacheSurface } from './cache/surface.ts';
import type { SurfaceLiteral } from './define-surface.ts';
import { fsSurface } from './fs/surface.ts';
import { kvSurface } from './kv/surface.ts';
import { nosqlSurface } from './nosql/surface.ts';
import { queueSurface } from './queue/surface.ts';
import { searchSurface } from './search/surface.ts';
import type { Spelling } from './spelling.ts';
import { sqlSurface } from './sql/surface.ts';
import { tableSurface } from './table/surface.ts';
import { vectorSurface } from './vector/surface.ts';

export const SURFACES: readonly SurfaceLiteral[] = [
  kvSurface.literal,
  cacheSurface.literal,
  tableSurface.literal,
  nosqlSurface.literal,
  sqlSurface.literal,
  vectorSurface.literal,
  searchSurface.literal,
  queueSurface.literal,
  blobSurface.literal,
  fsSurface.literal,
];

export const SPELLINGS: readonly Spelling[] = SURFACES.flatMap(({ spellings = [] }) => spellings);
