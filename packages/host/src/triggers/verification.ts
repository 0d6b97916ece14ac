/**
 * Whether the sender of an event has the secret. Pure.
 *
 * I1  A subscription takes one scheme alone: `<timestamp>.<body>` signed under one is a text that the other would
 *     take as a body, without a time.
 * I2  What is remembered of a signature is its digest, not the header: the same signature can be written in two ways.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SignatureScheme } from '@gantry/protocol';

/** For clock differences and slow requests. */
const TOLERANCE_SECONDS = 300;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const TIMESTAMP = /^\d{1,12}$/;

export interface Signed {
  readonly secret: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A valid signature. */
export interface Signature {
  readonly digest: string;
  /** Null when it does not expire. */
  readonly validUntilMs: number | null;
}

/** Null when there is no valid signature at that time. */
export function signatureOf(scheme: SignatureScheme, signed: Signed, nowMs: number): Signature | null {
  const { secret, headers, body } = signed;
  const hmac = createHmac('sha256', secret);
  switch (scheme) {
    case 'openwop': {
      const timestamp = header(headers, 'x-openwop-timestamp', 'openwop-timestamp') ?? '';
      if (!TIMESTAMP.test(timestamp)) return null;
      if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return null;
      const digest = matching(header(headers, 'x-openwop-signature', 'openwop-signature'), () =>
        hmac.update(`${timestamp}.`).update(body).digest(),
      );
      // Twice the tolerance: the clock of the process that forgets it may be ahead.
      return (
        digest && {
          digest: digest.toString('hex'),
          validUntilMs: (Number(timestamp) + 2 * TOLERANCE_SECONDS) * 1000,
        }
      );
    }
    case 'github': {
      const digest = matching(header(headers, 'x-hub-signature-256'), () => hmac.update(body).digest());
      return digest && { digest: digest.toString('hex'), validUntilMs: null };
    }
  }
}

function header(headers: IncomingHttpHeaders, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** I2. */
function matching(signature: string | undefined, expected: () => Buffer): Buffer | null {
  const hex = SIGNATURE.exec(signature ?? '')?.[1];
  if (hex === undefined) return null;
  const digest = expected();
  return timingSafeEqual(Buffer.from(hex, 'hex'), digest) ? digest : null;
}
