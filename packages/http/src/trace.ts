/** W3C trace context: a valid `traceparent` is continued, anything else starts a new trace. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;
const VERSION_00_LENGTH = 55;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
const SPAN_BYTES = 8;
const TRACE_BYTES = 16;
const POOL_BYTES = 1024;

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
}

export function parseTraceparent(header: string | undefined): TraceParent | null {
  if (header === undefined || !TRACEPARENT.test(header)) return null;
  // Version ff is forbidden, and version 00 has exactly four parts.
  if (header.startsWith('ff') || (header.startsWith('00') && header.length !== VERSION_00_LENGTH))
    return null;
  const traceId = header.slice(3, 35);
  const spanId = header.slice(36, 52);
  if (traceId === ZERO_TRACE || spanId === ZERO_SPAN) return null;
  return { traceId, spanId, flags: header.slice(53, 55) };
}

export type NextTraceparent = (incoming: string | undefined) => string;

/** Returns the `traceparent` of this request's own span. Random bytes are drawn in larger blocks. */
export function createTracer(randomBytes: (count: number) => Uint8Array): NextTraceparent {
  let pool = '';
  let used = 0;
  const draw = (bytes: number): string => {
    const length = bytes * 2;
    if (used + length > pool.length) {
      pool = Buffer.from(randomBytes(POOL_BYTES)).toString('hex');
      used = 0;
    }
    used += length;
    return pool.slice(used - length, used);
  };
  return (incoming) => {
    const parent = parseTraceparent(incoming);
    const traceId = parent === null ? draw(TRACE_BYTES) : parent.traceId;
    return `00-${traceId}-${draw(SPAN_BYTES)}-${parent === null ? '00' : parent.flags}`;
  };
}
