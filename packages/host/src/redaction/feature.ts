import type { RunLimits } from '@gantry/engine';
import { feature } from '../feature.ts';
import type { Parts } from '../parts.ts';
import type { Settings } from '../settings.ts';
import { GivenSecrets, givenRuns, givenSecrets } from './given-secrets.ts';

interface Needs extends Pick<Parts, 'store' | 'changes' | 'masterKey' | 'redactions' | 'now' | 'log'> {
  readonly settings: Pick<Settings, 'databaseUrl'>;
  readonly retentionMs: number;
  readonly limits: Pick<RunLimits, 'maxRunDurationMs'>;
}

/** Another process may have given a value to pack code. */
const LOOK_AGAIN_MS = 2_000;

export const givenFeature = feature({
  name: 'given',
  kinds: [givenSecrets, givenRuns],
  open({ settings, retentionMs, limits, ...parts }: Needs) {
    const given = new GivenSecrets({
      ...parts,
      keptMs: retentionMs + limits.maxRunDurationMs,
      lookAgainMs: settings.databaseUrl === undefined ? null : LOOK_AGAIN_MS,
    });
    parts.redactions.givenBy(given);
    return given;
  },
});
