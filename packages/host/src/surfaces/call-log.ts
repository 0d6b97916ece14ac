/** What the operator's log says of calls to surfaces. Never what they carried. */
import { type ErrorCode, Seldom } from '@gantry/protocol';
import type { CallReport } from '@gantry/surfaces';
import type { Logger } from 'pino';

/** Pack code reached for what it may not have: whoever watches the log should see it. */
const DENIALS: ReadonlySet<ErrorCode> = new Set([
  'sandbox_capability_denied',
  'datasource_access_denied',
  'path_outside_sandbox',
  'sql_non_parametric',
  'nosql_filter_rejected',
]);

/** A server that is away or refuses, or no room: no fault of this program, and its stack tells an operator nothing. */
const OUTAGES: ReadonlySet<ErrorCode> = new Set(['storage_unavailable', 'queue_backend_unavailable']);

/** A pack that asks in a loop must not fill the disk: all are counted in the metrics, few are told. */
const TOLD_EVERY_MS = 1_000;

export interface CallLogOptions {
  readonly log: Logger;
  readonly now: () => number;
  /** By surface: the setting that names its server. */
  readonly settings: ReadonlyMap<string, string>;
}

export function callLog({ log, now, settings }: CallLogOptions): (report: CallReport) => void {
  const seldom = new Seldom({ now, everyMs: TOLD_EVERY_MS });
  return ({ fault, ...report }) => {
    const { code } = report;
    const denied = code !== undefined && DENIALS.has(code);
    const away = code !== undefined && OUTAGES.has(code);
    if (away && fault !== undefined) log.debug({ err: fault, ...report }, 'what lies behind an outage');
    if (fault === undefined && !denied && !away) return log.debug(report, 'surface call');
    const untold = seldom.ask([report.tenant, report.pack.name, report.surface, report.code].join('\0'));
    if (untold === null) return;
    const told = { ...report, ...(untold > 0 && { untold }) };
    if (away && report.server)
      log.warn({ ...told, setting: settings.get(report.surface) }, WHY[report.server]);
    else if (away) log.warn({ ...told, ...saidBy(fault) }, 'a surface cannot do it for now');
    else if (fault === undefined) log.warn(told, 'surface call denied');
    else log.error({ err: fault, ...told }, 'a surface failed');
  };
}

const WHY = {
  away: 'the server of a surface is away',
  refused: 'the server of a surface refuses',
} as const;

const saidBy = (fault: unknown): { reason?: string } =>
  fault instanceof Error ? { reason: fault.message } : {};
