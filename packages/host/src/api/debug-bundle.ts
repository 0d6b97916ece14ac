/** All that is known of one run, masked, in one document of bounded size. */
import { type Api, callerOf, readPayload } from '@gantry/http';
import {
  DEBUG_BUNDLE_BYTES_MAX,
  DEBUG_BUNDLE_TRUNCATED_REASON,
  DEBUG_BUNDLE_VERSION,
  DebugBundle,
  eventDocJson,
  OpenwopError,
  type StoredEvent,
} from '@gantry/protocol';
import type { ReadRun } from '../runtime/runtime.ts';
import type { ApiDeps, HostInfo } from './context.ts';
import { readLog } from './events.ts';
import { RUN_URL, RunParams } from './runs.ts';
import { spansOf } from './spans.ts';

interface Source {
  readonly read: ReadRun;
  readonly events: readonly StoredEvent[];
  /** The log has events that were not read. */
  readonly more: boolean;
}

/** The bundle with a prefix of the events as JSON text. */
function bundleText(
  info: Pick<HostInfo, 'name' | 'version'>,
  generatedAt: number,
  source: Source,
  count: number,
): string {
  const { read, more } = source;
  const { run, plan, snapshot } = read;
  const { definition } = plan;
  const events = source.events.slice(0, count);
  const mode = definition.metadata.complianceConfig?.maskingMode ?? 'mask';
  const rest = {
    bundleVersion: DEBUG_BUNDLE_VERSION,
    generatedAt: new Date(generatedAt).toISOString(),
    host: { name: info.name, version: info.version },
    run: snapshot,
    spans: spansOf(run, events),
    metrics: { openwopCost: null, nodeCount: definition.nodes.length, eventCount: events.length },
    // What is sealed is what readers see masked.
    redactionApplied: mode !== 'passthrough' && events.some((event) => event.sealed !== null),
    redactionMode: mode,
    ...((more || count < source.events.length) && {
      truncated: true,
      truncatedReason: DEBUG_BUNDLE_TRUNCATED_REASON,
    }),
  };
  const docs = events.map((event) => eventDocJson(run.facts.runId, event)).join(',');
  return `${JSON.stringify(rest).slice(0, -1)},"events":[${docs}]}`;
}

/** The longest prefix that fits, to within an eighth of the log. */
export function debugBundle(
  info: Pick<HostInfo, 'name' | 'version'>,
  generatedAt: number,
  source: Source,
  bytesMax: number,
): string {
  let count = source.events.length;
  for (;;) {
    const text = bundleText(info, generatedAt, source, count);
    if (count === 0 || Buffer.byteLength(text) <= bytesMax) return text;
    count -= Math.max(1, Math.ceil(source.events.length / 8));
    if (count < 0) count = 0;
  }
}

export function debugBundleRoute(app: Api, deps: ApiDeps): void {
  app.get(
    `${RUN_URL}/debug-bundle`,
    {
      schema: {
        summary: 'Export what is known of a run',
        params: RunParams,
        response: { 200: DebugBundle },
      },
    },
    async (request, reply) => {
      const key = { tenant: callerOf(request).tenant, runId: request.params.runId };
      const read = await deps.runtime.read(key);
      const log = read && (await readLog(deps.store, key, 0, DEBUG_BUNDLE_BYTES_MAX));
      if (!read || !log) throw new OpenwopError('not_found');
      const more = log.events.length < log.row.nextSeq;
      void reply.header('cache-control', 'no-store');
      const source = { read, events: log.events, more };
      return readPayload(request, reply, debugBundle(deps.info, deps.now(), source, DEBUG_BUNDLE_BYTES_MAX));
    },
  );
}
