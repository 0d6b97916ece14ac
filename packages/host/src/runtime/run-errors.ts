/** Errors of a run that cannot continue here, and of a host that cannot serve a request now. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';

/** The state in memory is not the committed one; the run has to be read again. */
export class StaleRunError extends Error {
  constructor(runId: string) {
    super(`run ${runId} was changed elsewhere`);
  }
}

/** Only its owner may continue a run: two processes would both start its effects. */
export class OwnedElsewhereError extends Error {
  constructor(runId: string) {
    super(`another process is working on run ${runId}`);
  }
}

export const RETRY_AFTER_SECONDS = 1;

/** `message` states the reason, and when to try again. */
export const unavailable = (message: string, details: JsonObject = {}): OpenwopError =>
  new OpenwopError('service_unavailable', {
    message,
    details: { retryAfter: RETRY_AFTER_SECONDS, ...details },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
