/** Why a run in memory cannot go on here, and why the host takes nothing now. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';

/** What is in memory is no longer what is committed; reading the run again puts it right. */
export class StaleRunError extends Error {
  constructor(runId: string) {
    super(`run ${runId} was changed elsewhere`);
  }
}

/** Only its owner may go on with a run: two processes would both start its effects. */
export class OwnedElsewhereError extends Error {
  constructor(runId: string) {
    super(`another process is working on run ${runId}`);
  }
}

export const RETRY_AFTER_SECONDS = 1;

/** `message` says what keeps the host from it, and when to try again. */
export const unavailable = (message: string, details: JsonObject = {}): OpenwopError =>
  new OpenwopError('service_unavailable', {
    message,
    details: { retryAfter: RETRY_AFTER_SECONDS, ...details },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
