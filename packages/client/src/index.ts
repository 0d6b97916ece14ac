export type { ArtifactOptions, Artifacts } from './artifacts.ts';
export type { CallOptions, CreateOptions } from './calls.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { ApiError, type ClientErrorCode } from './error.ts';
export type { EventsOptions } from './events.ts';
export type { InterruptPage, Interrupts } from './interrupts.ts';
export type { Keys, OfTenant } from './keys.ts';
export type { InstallOptions, Packs } from './packs.ts';
export type * from './resources.ts';
export type { RetryPolicy } from './retry.ts';
export type {
  PollOptions,
  PollResult,
  RunFilter,
  Runs,
} from './runs.ts';
export type { Session } from './session.ts';
export { createSseParser, type SseFrame, type SseParser } from './sse.ts';
export { endsRun, type StreamEvent } from './stream-event.ts';
export type { Fetch } from './transport.ts';
export type { Workflows } from './workflows.ts';
