/** Why a run in memory cannot go on here. */

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
