/** Whether an event comes from who has the secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Clocks differ, and a request takes its time. */
const TOLERANCE_SECONDS = 300;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const TIMESTAMP = /^\d{1,12}$/;

const header = (headers: IncomingHttpHeaders, ...names: string[]): string | undefined => {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
};

/**
 * Signed like the webhooks that this host sends: HMAC-SHA256 over `<timestamp>.<raw body>`. Else as GitHub signs:
 * over the raw body alone, which says nothing about when.
 */
export function isSigned(secret: string, headers: IncomingHttpHeaders, body: Buffer, nowMs: number): boolean {
  const timestamp = header(headers, 'x-openwop-timestamp', 'openwop-timestamp');
  const signature = header(headers, 'x-openwop-signature', 'openwop-signature');
  if (signature !== undefined) {
    if (timestamp === undefined || !TIMESTAMP.test(timestamp)) return false;
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
    return matches(signature, createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest());
  }
  const hub = header(headers, 'x-hub-signature-256');
  return hub !== undefined && matches(hub, createHmac('sha256', secret).update(body).digest());
}

function matches(signature: string, expected: Buffer): boolean {
  const hex = SIGNATURE.exec(signature)?.[1];
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, 'hex'), expected);
}
