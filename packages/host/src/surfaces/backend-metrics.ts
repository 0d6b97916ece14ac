/** How many backends of each capability are in which state now. A capability may have several: data sources. */
import type { BackendHealth } from '@gantry/protocol';

const STATES: readonly BackendHealth['state'][] = ['up', 'unreachable', 'rejected'];

/** As Prometheus reads it. */
export function backendMetrics(backends: readonly BackendHealth[]): string {
  const kinds = Map.groupBy(backends, labelsOf);
  return [
    '# HELP gantry_backends Backends of surfaces by state: up, unreachable (used again when it answers), rejected (needs a correction).',
    '# TYPE gantry_backends gauge',
    ...[...kinds].flatMap(([labels, alike]) =>
      STATES.map((state) => {
        const count = alike.filter((each) => each.state === state).length;
        return `gantry_backends{${labels},state="${state}"} ${count}`;
      }),
    ),
    '',
  ].join('\n');
}

const labelsOf = ({ capability, backend }: BackendHealth): string =>
  `capability="${capability}",backend="${backend}"`;
