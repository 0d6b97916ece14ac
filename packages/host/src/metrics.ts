/** Metrics of the host itself, in the format of Prometheus. */
import { unhandledRejections } from '@gantry/http';
import type { StoreHealth } from './store-health.ts';

export const hostMetrics = ({ clockSkewMs }: Pick<StoreHealth, 'clockSkewMs'>): string =>
  [
    '# HELP gantry_clock_skew_seconds Clock of this machine minus that of the database, at the last renewal.',
    '# TYPE gantry_clock_skew_seconds gauge',
    `gantry_clock_skew_seconds ${clockSkewMs / 1_000}`,
    '# HELP gantry_unhandled_rejections_total Rejected promises that nothing handled: bugs, reported in the log.',
    '# TYPE gantry_unhandled_rejections_total counter',
    `gantry_unhandled_rejections_total ${unhandledRejections.count}`,
    '',
  ].join('\n');
