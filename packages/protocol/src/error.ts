import type { Static } from 'typebox';
import { ACCESS_ERRORS } from './errors/access.ts';
import { AI_ERRORS } from './errors/ai.ts';
import { CHAIN_ERRORS } from './errors/chain.ts';
import { CREDENTIAL_ERRORS } from './errors/credential.ts';
import type { ErrorEntry } from './errors/entry.ts';
import { NODE_ERRORS } from './errors/node.ts';
import { PACK_ERRORS } from './errors/pack.ts';
import { PACK_CONTENT_ERRORS } from './errors/pack-content.ts';
import { REGISTRY_ERRORS } from './errors/registry.ts';
import { REQUEST_ERRORS } from './errors/request.ts';
import { RESOURCE_ERRORS } from './errors/resource.ts';
import { RUN_ERRORS } from './errors/run.ts';
import { SURFACE_ERRORS } from './errors/surface.ts';
import { given, type JsonObject } from './json.ts';
import { closedObject, optional, Text, Values } from './schema.ts';

export type { ErrorEntry };

/** The body of every non-2xx response. Closed. */
export const ErrorEnvelope = closedObject({
  error: Text,
  message: Text,
  details: optional(Values),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

/** The catalogue of errors. Where the protocol allows several statuses, this is the choice. */
export const ERRORS = {
  ...ACCESS_ERRORS,
  ...REQUEST_ERRORS,
  ...RESOURCE_ERRORS,
  ...CREDENTIAL_ERRORS,
  ...RUN_ERRORS,
  ...NODE_ERRORS,
  ...CHAIN_ERRORS,
  ...PACK_ERRORS,
  ...PACK_CONTENT_ERRORS,
  ...REGISTRY_ERRORS,
  ...SURFACE_ERRORS,
  ...AI_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export interface OpenwopErrorOptions {
  readonly message?: string;
  readonly details?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the operator's log; never sent to clients. */
  readonly cause?: unknown;
}

/** An expected failure. The API sends it as the envelope; any other error becomes `internal_error`. */
export class OpenwopError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject | undefined;
  /** Response headers that belong to the failure, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: OpenwopErrorOptions = {}) {
    const { cause } = options;
    super(
      options.message ?? `${ERRORS[code].message} ${ERRORS[code].next}`,
      cause === undefined ? undefined : { cause },
    );
    this.name = 'OpenwopError';
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  /** Whether a retry can help. `details` overrides the catalogue. */
  get retriable(): boolean {
    const { retriable } = this.details ?? {};
    return typeof retriable === 'boolean' ? retriable : ERRORS[this.code].retriable;
  }

  /** A run-level code in an HTTP response is a fault of the host. */
  get status(): number {
    return ERRORS[this.code].status || 500;
  }
}

/** The request is not valid; the message says what would be. */
export const invalid = (message: string, details?: JsonObject): OpenwopError =>
  new OpenwopError('validation_error', given({ message, details }));

/** Details that the protocol also requires next to `error`; otherwise the envelope is closed. */
const ALSO_AT_THE_TOP: Partial<Record<ErrorCode, readonly string[]>> = {
  pack_runtime_requirement_unmet: ['unmet', 'manifest', 'advice'],
};

/** The response body of a failure. `details.retriable` says whether a retry can help. */
export function errorEnvelope({ code, message, details = {} }: OpenwopError): ErrorEnvelope & JsonObject {
  const { retriable } = ERRORS[code];
  const top = (ALSO_AT_THE_TOP[code] ?? []).filter((name) => details[name] !== undefined);
  const above = Object.fromEntries(top.map((name) => [name, details[name]!]));
  return { error: code, message, ...above, details: { retriable, ...details } };
}

const NEVER_KEPT: ReadonlySet<number> = new Set([400, 401, 403]);

/** Whether the same request would always be refused in the same way, so that the refusal is recorded for repeats. */
export const isKeptRefusal = ({ code, status }: OpenwopError): boolean =>
  status < 500 && !NEVER_KEPT.has(status) && !ERRORS[code].retriable;
