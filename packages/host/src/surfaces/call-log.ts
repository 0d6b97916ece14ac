/** Messages about surface calls in the operator's log. They never contain the data of a call. */
import { type ErrorCode, Seldom } from '@gantry/protocol';
import type { CallReport } from '@gantry/surfaces';
import type { Logger } from 'pino';

/** Pack code requested something that it may not use. The operator should see this. */
const DENIALS: ReadonlySet<ErrorCode> = new Set([
  'sandbox_capability_denied',
  'datasource_access_denied',
  'path_outside_sandbox',
  'sql_non_parametric',
  'nosql_filter_rejected',
]);

/**
 * A backend that is unreachable, rejects the host, or is full. This is no error of this program, so no stack is logged.
 */
const OUTAGES: ReadonlySet<ErrorCode> = new Set(['storage_unavailable', 'queue_backend_unavailable']);

/** A pack that fails in a loop must not fill the disk: all failures are counted in the metrics, few are logged. */
const TOLD_EVERY_MS = 1_000;

export interface CallLogOptions {
  readonly log: Logger;
  readonly now: () => number;
  /** The setting that names the server of a surface. */
  readonly settings: ReadonlyMap<string, string>;
}

export function callLog({ log, now, settings }: CallLogOptions): (report: CallReport) => void {
  const seldom = new Seldom({ now, everyMs: TOLD_EVERY_MS });
  return ({ fault, ...report }) => {
    const { code } = report;
    const denied = code !== undefined && DENIALS.has(code);
    const isOutage = code !== undefined && OUTAGES.has(code);
    if (isOutage && fault !== undefined) log.debug({ err: fault, ...report }, 'cause of a surface outage');
    if (fault === undefined && !denied && !isOutage) return log.debug(report, 'surface call');
    const untold = seldom.ask([report.tenant, report.pack.name, report.surface, report.code].join('\0'));
    if (untold === null) return;
    const told = { ...report, ...(untold > 0 && { untold }) };
    if (isOutage && report.server)
      log.warn({ ...told, setting: settings.get(report.surface) }, WHY[report.server]);
    else if (isOutage) log.warn({ ...told, ...saidBy(fault) }, 'surface backend unavailable');
    else if (fault === undefined) log.warn(told, 'surface call denied');
    else log.error({ err: fault, ...told }, 'surface call failed');
  };
}

const WHY = {
  unreachable: 'surface backend unreachable',
  rejected: 'surface backend rejected the host',
} as const;

const saidBy = (fault: unknown): { reason?: string } =>
  fault instanceof Error ? { reason: fault.message } : {};
