/** Decides what happens after a failed attempt of a call. */
import type { ErrorCode } from '@gantry/protocol';
import type { ModelFailure } from '../model.ts';

export const TRIES_MAX = 3;
const WAIT_MS_MAX = 60_000;
const WAITS_MAX = 20;
const BACKOFF_MS = 500;

export type AfterFailure =
  /** Nothing was served: repeat the same attempt. */
  | { readonly kind: 'same'; readonly waitMs: number }
  /** The served output is lost: make another attempt, which is charged separately. */
  | { readonly kind: 'another'; readonly waitMs: number }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      /** A later attempt of the node may succeed; nothing is recorded. */
      readonly retriable: boolean;
      readonly retryAfterMs?: number;
    };

export interface Tried {
  /** Broken attempts, including this one. */
  readonly broken: number;
  /** The number of repeats because of a limit, or because nothing was sent. */
  readonly waits: number;
  /** The total waiting time. */
  readonly waitedMs: number;
}

export function nextAfter({ kind, retryAfterMs }: ModelFailure, tried: Tried): AfterFailure {
  const backoffMs = BACKOFF_MS * 2 ** Math.min(tried.waits, 6);
  // Some servers say 0, or a time that is over
  const waitMs = retryAfterMs !== undefined && retryAfterMs >= BACKOFF_MS ? retryAfterMs : backoffMs;
  const isPatient = tried.waitedMs + waitMs <= WAIT_MS_MAX && tried.waits < WAITS_MAX;
  switch (kind) {
    case 'limited':
      return isPatient
        ? { kind: 'same', waitMs }
        : { kind: 'failed', code: 'provider_quota_exhausted', retriable: true, retryAfterMs: waitMs };
    case 'not-sent':
      return isPatient && tried.waits < TRIES_MAX
        ? { kind: 'same', waitMs }
        : { kind: 'failed', code: 'provider_unavailable', retriable: true };
    case 'broken':
      return tried.broken < TRIES_MAX
        ? { kind: 'another', waitMs: BACKOFF_MS * 2 ** (tried.broken - 1) }
        : { kind: 'failed', code: 'provider_unavailable', retriable: true };
    case 'quota':
      return { kind: 'failed', code: 'provider_quota_exhausted', retriable: true };
    default:
      return { kind: 'failed', code: FINAL[kind], retriable: false };
  }
}

/** The same request would fail again. */
const FINAL = {
  'too-long': 'content_too_long',
  'unknown-model': 'model_not_supported',
  'key-rejected': 'credential_unavailable',
  rejected: 'provider_unavailable',
} as const;
