/** Surfaces as a host opens them, with what a test is not about filled in. */
import { createEgressByPurpose } from '@gantry/egress';
import { type OpenedSurfaces, openSurfaces, type SurfacesOptions } from '../open-surfaces.ts';

export const openTestSurfaces = (
  dataDir: string,
  more: Partial<Omit<SurfacesOptions, 'dataDir'>> = {},
): Promise<OpenedSurfaces> =>
  openSurfaces({
    dataDir,
    cursorKey: new Uint8Array(32).fill(7),
    invocationRetentionMs: 60_000,
    backends: {},
    egress: createEgressByPurpose(),
    now: Date.now,
    report: () => {},
    buckets: ['artifacts'],
    blobLinks: { key: new Uint8Array(32).fill(3), publicUrl: () => 'https://host.test' },
    ...more,
  });
