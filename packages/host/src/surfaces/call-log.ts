/** What the operator's log says of calls to surfaces. Never what they carried. */
import type { ErrorCode } from '@gantry/protocol';
import type { CallReport } from '@gantry/surfaces';
import type { Logger } from 'pino';

/** Pack code reached for what it may not have: whoever watches the log should see it. */
const DENIALS: ReadonlySet<ErrorCode> = new Set([
  ...(['sandbox_capability_denied', 'datasource_access_denied', 'path_outside_sandbox'] as const),
  ...(['sql_non_parametric', 'nosql_filter_rejected'] as const),
]);

/** A pack that asks in a loop must not fill the disk: all are counted in the metrics, few are told. */
const TOLD_EVERY_MS = 1_000;

export function callLog(log: Logger, now: () => number): (report: CallReport) => void {
  let quietUntil = 0;
  return ({ fault, ...report }) => {
    if (fault !== undefined) return log.error({ err: fault, ...report }, 'a surface failed');
    const denied = report.code !== undefined && DENIALS.has(report.code);
    if (!denied || now() < quietUntil) return log.debug(report, 'surface call');
    quietUntil = now() + TOLD_EVERY_MS;
    log.warn(report, 'surface call denied');
  };
}
