/** Every surface that this host can offer. A new surface adds its line here. */
import { aiSurface } from '../capabilities/ai/surface.ts';
import { blobSurface } from '../capabilities/blob/surface.ts';
import { cacheSurface } from '../capabilities/cache/surface.ts';
import { envelopesSurface } from '../capabilities/envelopes/surface.ts';
import { fsSurface } from '../capabilities/fs/surface.ts';
import { httpSurface, rawFetchSurface } from '../capabilities/http/surface.ts';
import { kvSurface } from '../capabilities/kv/surface.ts';
import { messagingSurface } from '../capabilities/messaging/surface.ts';
import { nosqlSurface } from '../capabilities/nosql/surface.ts';
import { promptsSurface } from '../capabilities/prompts/surface.ts';
import { queueSurface } from '../capabilities/queue/surface.ts';
import { searchSurface } from '../capabilities/search/surface.ts';
import { secretsSurface } from '../capabilities/secrets/surface.ts';
import { sqlSurface } from '../capabilities/sql/surface.ts';
import { tableSurface } from '../capabilities/table/surface.ts';
import { vectorSurface } from '../capabilities/vector/surface.ts';
import type { OpenSurface } from '../open-port.ts';
import type { MethodLiteral, SurfaceLiteral } from './define-surface.ts';
import type { Spelling } from './spelling.ts';

export const SURFACES: readonly (SurfaceLiteral & { readonly opens: OpenSurface })[] = [
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
  secretsSurface.literal,
  httpSurface.literal,
  messagingSurface.literal,
  aiSurface.literal,
  envelopesSurface.literal,
  promptsSurface.literal,
];

export const SPELLINGS: readonly Spelling[] = SURFACES.flatMap(({ spellings = [] }) => spellings);

/** The names of tools in events. */
export const TOOL_NAMES: readonly string[] = [...SURFACES, rawFetchSurface.literal].flatMap(({ methods }) =>
  Object.values<MethodLiteral>(methods).flatMap(({ tool }) => (tool ? [tool.name] : [])),
);
