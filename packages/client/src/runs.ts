import type {
  Ancestry,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  CreateRunRequest,
  CreateRunResponse,
  DebugBundle,
  ForkRunRequest,
  ForkRunResponse,
  PauseRunRequest,
  PauseRunResponse,
  PollEventsResponse,
  ResumeRunRequest,
  ResumeRunResponse,
  RunAgainRequest,
  RunDiffResponse,
  RunEventDoc,
  RunExplanation,
  RunSnapshot,
  RunStatus,
  RunSummary,
  RunUsage,
} from '@gantry/protocol';
import { type CallOptions, type CreateOptions, createCalls } from './calls.ts';
import { type EventsOptions, streamEvents } from './events.ts';
import type { RetryPolicy } from './retry.ts';
import type { StreamEvent } from './stream-event.ts';
import type { Transport } from './transport.ts';

interface RunPage {
  runs: RunSummary[];
  /** Pass as `before` to get the next, older page. */
  nextBefore?: string;
}

export interface RunFilter extends CallOptions {
  status?: RunStatus;
  workflowId?: string;
  before?: string;
  limit?: number;
}

export interface PollOptions extends CallOptions {
  /** Sequence of the last event already seen. */
  lastSequence?: number;
  /** How long the host may wait for an event, 1 to 60 seconds. */
  timeoutSeconds?: number;
}

export type PollResult = Omit<PollEventsResponse, 'events'> & { events: RunEventDoc[] };

export interface Runs {
  create(request: CreateRunRequest, options?: CreateOptions): Promise<CreateRunResponse>;
  get(runId: string, options?: CallOptions): Promise<RunSnapshot>;
  list(filter?: RunFilter): Promise<RunPage>;
  cancel(runId: string, request?: CancelRunRequest): Promise<CancelRunResponse>;
  bulkCancel(runIds: readonly string[], request?: CancelRunRequest): Promise<BulkCancelResponse>;
  /** Deletes a run that has ended, with the runs that it started. */
  delete(runId: string): Promise<{ deleted: string[] }>;
  pause(runId: string, request?: PauseRunRequest): Promise<PauseRunResponse>;
  resume(runId: string, request?: ResumeRunRequest): Promise<ResumeRunResponse>;
  explain(runId: string): Promise<RunExplanation>;
  /** The model usage of the run. */
  usage(runId: string): Promise<RunUsage>;
  /** A new run from the events of this one: `replay` repeats the recorded results, `branch` executes the rest again. */
  fork(runId: string, request: ForkRunRequest, options?: CreateOptions): Promise<ForkRunResponse>;
  /** Continues a failed run in a new one, from the node that failed, with the current definition. */
  repair(runId: string, options?: CreateOptions): Promise<ForkRunResponse>;
  /** Runs the workflow of a run again, with its inputs and options, and those given here. */
  again(runId: string, changes?: RunAgainRequest, options?: CreateOptions): Promise<CreateRunResponse>;
  /** Where two runs diverge, and how their results differ. */
  diff(runId: string, against: string): Promise<RunDiffResponse>;
  ancestry(runId: string): Promise<Ancestry>;
  debugBundle(runId: string): Promise<DebugBundle>;
  poll(runId: string, options?: PollOptions): Promise<PollResult>;
  /** Every event once, across lost connections and host restarts, up to the end of the run. */
  events(runId: string, options?: EventsOptions): AsyncGenerator<StreamEvent, void, undefined>;
  /** Resolves when the run has completed, failed or been cancelled. */
  wait(runId: string, options?: CallOptions): Promise<RunSnapshot>;
}

export function createRuns(transport: Transport, reconnect: RetryPolicy): Runs {
  const runPath = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}`;
  const hostPath = (runId: string) => `/v1/host/gantry/runs/${encodeURIComponent(runId)}`;
  const { read, send, remove } = createCalls(transport);
  const get: Runs['get'] = (runId, options) => read(runPath(runId), {}, options);
  const events: Runs['events'] = (runId, options) =>
    streamEvents(
      { transport, reconnect, readRun: (id, signal) => get(id, signal && { signal }) },
      runId,
      options,
    );

  return {
    get,
    events,
    create: (request, options) => send('/v1/runs', request, options),
    list: ({ signal, ...query } = {}) => read('/v1/host/gantry/runs', query, signal && { signal }),
    cancel: (runId, request = {}) => send(`${runPath(runId)}/cancel`, request),
    bulkCancel: (runIds, request = {}) => send('/v1/runs:bulk-cancel', { runIds, ...request }),
    delete: (runId) => remove(hostPath(runId)),
    pause: (runId, request = {}) => send(`${runPath(runId)}:pause`, request),
    resume: (runId, request = {}) => send(`${runPath(runId)}:resume`, request),
    explain: (runId) => read(`${hostPath(runId)}/explain`),
    usage: (runId) => read(`${hostPath(runId)}/usage`),
    fork: (runId, request, options) => send(`${runPath(runId)}:fork`, request, options),
    repair: (runId, options) => send(`${hostPath(runId)}:repair`, {}, options),
    again: (runId, changes = {}, options) => send(`${hostPath(runId)}:again`, changes, options),
    diff: (runId, against) => read(`${runPath(runId)}:diff`, { against }),
    ancestry: (runId) => read(`${runPath(runId)}/ancestry`),
    debugBundle: (runId) => read(`${runPath(runId)}/debug-bundle`),
    poll: (runId, { lastSequence, timeoutSeconds = 30, signal } = {}) =>
      transport.request({
        method: 'GET',
        path: `${runPath(runId)}/events/poll`,
        query: { lastSequence, timeout: timeoutSeconds },
        timeoutMs: (timeoutSeconds + 30) * 1000,
        signal,
      }),
    async wait(runId, options) {
      for await (const event of events(runId, options)) void event;
      return get(runId, options);
    },
  };
}
