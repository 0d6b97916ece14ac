/** A message as brokers carry it: one body, so that no broker's rules for headers matter. */
import type { Json } from '@gantry/protocol';
import type { QueueMessage } from '../ports/queue.ts';

export const toBody = ({ messageId, payload, headers }: QueueMessage): Buffer =>
  Buffer.from(JSON.stringify({ messageId, payload, headers }));

/** Null for what someone else put there. */
export function fromBody(body: Uint8Array): QueueMessage | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString());
    return isMessage(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isMessage(value: unknown): value is QueueMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { messageId, payload, headers } = value as { [name: string]: Json | undefined };
  return typeof messageId === 'string' && payload !== undefined && isTexts(headers);
}

const isTexts = (headers: Json | undefined): boolean =>
  typeof headers === 'object' &&
  headers !== null &&
  Object.values(headers).every((each) => typeof each === 'string');
