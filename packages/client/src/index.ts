export { type Client, type ClientOptions, createClient } from './client.ts';
export { ApiError, type ClientErrorCode } from './error.ts';
export type { EventsOptions } from './events.ts';
export type { CreateKeyRequest, KeySummary, Keys, NewKey, OfTenant } from './keys.ts';
export type { RetryPolicy } from './retry.ts';
export type {
  CallOptions,
  CreateOptions,
  PollOptions,
  PollResult,
  RunFilter,
  RunPage,
  RunSummary,
  Runs,
} from './runs.ts';
export { createSseParser, type SseFrame, type SseParser } from './sse.ts';
export { endsRun, type StreamEvent } from './stream-event.ts';
export type { Fetch } from './transport.ts';
export type { WorkflowSummary, Workflows } from './workflows.ts';
