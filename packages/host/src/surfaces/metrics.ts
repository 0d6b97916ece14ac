/** Metrics of surfaces in the format of Prometheus. */
import type { BackendHealth } from '@gantry/protocol';
import type { CallReport } from '@gantry/surfaces';

/** Upper bounds in seconds, from a read of the data folder to a server that is about to time out. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  readonly labels: string;
  /** By bound; `count` also includes those above all bounds. */
  readonly buckets: number[];
  count: number;
  seconds: number;
}

export type MeasuredCall = Pick<CallReport, 'surface' | 'method' | 'ms' | 'ok' | 'code'>;

/** How often pack code called each method, with which result and how long it took; since the process started. */
export class CallMetrics {
  readonly #series = new Map<string, Series>();

  record(call: MeasuredCall): void {
    const labels = labelsOf(call);
    const series = this.#series.get(labels) ?? { labels, buckets: BOUNDS.map(() => 0), count: 0, seconds: 0 };
    this.#series.set(labels, series);
    const seconds = call.ms / 1_000;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket]!++;
    series.count++;
    series.seconds += seconds;
  }

  text(): string {
    const all = [...this.#series.values()].sort((a, b) => (a.labels < b.labels ? -1 : 1));
    return [
      '# HELP openwop_activity_invocations_total Calls of pack code to surfaces of the host.',
      '# TYPE openwop_activity_invocations_total counter',
      ...all.map(({ labels, count }) => `openwop_activity_invocations_total{${labels}} ${count}`),
      '# HELP openwop_activity_duration_seconds How long they took.',
      '# TYPE openwop_activity_duration_seconds histogram',
      ...all.flatMap(histogram),
      '',
    ].join('\n');
  }
}

/** The pack chooses the name of an unknown method, so all of these share one series. */
function labelsOf({ surface, method, ok, code }: MeasuredCall): string {
  const [provider, name] = method === '' ? ['none', 'none'] : [surface, method];
  return `provider="${provider}",method="${name}",outcome="${ok ? 'ok' : (code ?? 'ended')}"`;
}

function histogram({ labels, buckets, count, seconds }: Series): string[] {
  let below = 0;
  const lines = BOUNDS.map((bound, at) => {
    below += buckets[at]!;
    return `openwop_activity_duration_seconds_bucket{${labels},le="${bound}"} ${below}`;
  });
  return [
    ...lines,
    `openwop_activity_duration_seconds_bucket{${labels},le="+Inf"} ${count}`,
    `openwop_activity_duration_seconds_sum{${labels}} ${Number(seconds.toFixed(6))}`,
    `openwop_activity_duration_seconds_count{${labels}} ${count}`,
  ];
}

const STATES: readonly BackendHealth['state'][] = ['up', 'unreachable', 'rejected'];

/** The number of backends of each capability by state. A capability may have several: data sources. */
export function backendMetrics(backends: readonly BackendHealth[]): string {
  const kinds = Map.groupBy(backends, backendOf);
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

const backendOf = ({ capability, backend }: BackendHealth): string =>
  `capability="${capability}",backend="${backend}"`;
