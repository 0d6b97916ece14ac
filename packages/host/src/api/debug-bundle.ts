/** Everything known about one run, masked, in one document of bounded size. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Api, callerOf, readPayload } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import {
  closedObject,
  DEBUG_BUNDLE_BYTES_MAX,
  DEBUG_BUNDLE_TRUNCATED_REASON,
  DEBUG_BUNDLE_VERSION,
  DebugBundle,
  eventDocJson,
  OpenwopError,
  type StoredEvent,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import Type from 'typebox';
import type { ReadRun } from '../runtime/runtime.ts';
import { inTurn } from '../turns.ts';
import type { ApiDeps, HostInfo } from './context.ts';
import { readLog } from './events.ts';
import { RUN_URL, RunParams } from './runs.ts';
import { SpanCollector } from './spans.ts';

interface Source {
  readonly read: ReadRun;
  readonly events: readonly StoredEvent[];
  /** The number of events in the log, including those that were not read. */
  readonly total: number;
}

/** The number of events that are measured before other requests may run. */
const SLICE_EVENTS = 250;
/** Upper bound for the bytes that the end of a span and the truncation marker add. */
const ENDING_BYTES = 128;

/** The longest prefix of the events that fits. Every event is measured once, in slices. */
export async function debugBundle(
  info: Pick<HostInfo, 'name' | 'version'>,
  generatedAt: number,
  source: Source,
  bytesMax: number,
): Promise<string> {
  const { run } = source.read;
  const collector = new SpanCollector(run);
  const docs: string[] = [];
  let bytes = Buffer.byteLength(headText(info, generatedAt, source, 0)) + ENDING_BYTES;
  let spanCount = 0;
  for (const event of source.events) {
    const doc = eventDocJson(run.facts.runId, event);
    const opened = collector.add(event);
    const spanBytes = opened ? Buffer.byteLength(JSON.stringify(opened)) + ENDING_BYTES : 0;
    bytes += Buffer.byteLength(doc) + 1 + spanBytes;
    if (bytes > bytesMax) break;
    docs.push(doc);
    spanCount = collector.spans.length;
    if (docs.length % SLICE_EVENTS === 0) await nextTurn();
  }
  const spans = JSON.stringify(collector.spans.slice(0, spanCount));
  const head = headText(info, generatedAt, source, docs.length).slice(0, -1);
  return `${head},"spans":${spans},"events":[${docs.join(',')}]}`;
}

/** The bundle without its lists. */
function headText(
  info: Pick<HostInfo, 'name' | 'version'>,
  generatedAt: number,
  { read: { plan, snapshot }, events, total }: Source,
  count: number,
): string {
  const { definition } = plan;
  const mode = definition.metadata.complianceConfig?.maskingMode ?? 'mask';
  return JSON.stringify({
    bundleVersion: DEBUG_BUNDLE_VERSION,
    generatedAt: new Date(generatedAt).toISOString(),
    host: { name: info.name, version: info.version },
    runId: snapshot.runId,
    run: snapshot,
    metrics: {
      openwopCost: snapshot.metrics?.openwopCost ?? null,
      nodeCount: definition.nodes.length,
      eventCount: total,
    },
    // Values that are stored sealed are shown masked.
    redactionApplied:
      mode !== 'passthrough' && events.some(({ sealed }, at) => at < count && sealed !== null),
    redactionMode: mode,
    ...(count < total && {
      truncated: true,
      truncatedReason: DEBUG_BUNDLE_TRUNCATED_REASON,
    }),
  });
}

/** The number of bundles made at the same time: each holds a log of several megabytes in memory. */
const BUNDLES_MAX = 2;
const WAITING_PER_TENANT_MAX = 16;

/** The bundle of a run that the tenant has. `eventsMax`: its first events only. */
export async function exportedRun(
  { runtime, store, info, now }: Pick<ApiDeps, 'runtime' | 'store' | 'info' | 'now'>,
  key: RunKey,
  eventsMax?: number,
): Promise<string> {
  const read = await runtime.read(key);
  const log = read && (await readLog(store, key, 0, DEBUG_BUNDLE_BYTES_MAX));
  if (!read || !log) throw new OpenwopError('not_found');
  const source = { read, events: log.events.slice(0, eventsMax), total: log.row.nextSeq };
  return debugBundle(info, now(), source, DEBUG_BUNDLE_BYTES_MAX);
}

export function debugBundleRoute(app: Api, deps: ApiDeps): void {
  const bundles = limiter({
    max: BUNDLES_MAX,
    perTenantMax: 1,
    waitingPerTenantMax: WAITING_PER_TENANT_MAX,
  });
  app.get(
    `${RUN_URL}/debug-bundle`,
    {
      schema: {
        summary: 'Export a run for debugging',
        params: RunParams,
        querystring: closedObject({ maxEvents: Type.Optional(Type.Integer({ minimum: 1 })) }),
        response: { 200: DebugBundle },
      },
    },
    async (request, reply) => {
      const key = { tenant: callerOf(request).tenant, runId: request.params.runId };
      const text = await inTurn(bundles, key.tenant, () => exportedRun(deps, key, request.query.maxEvents));
      void reply.header('cache-control', 'no-store');
      return readPayload(request, reply, text);
    },
  );
}
