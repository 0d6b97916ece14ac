import type { Redactor } from '@gantry/protocol/redaction';
import type { Data } from '@gantry/surfaces';

/**
 * Bytes are searched as text with one character per byte: the forms of a value include its UTF-8 bytes in
 * that encoding.
 */
export function holdsSecret(redactor: Redactor, data: Data): boolean {
  if (redactor.isEmpty) return false;
  if (typeof data !== 'object' || data === null) return redactor.contains(data);
  if (data instanceof Uint8Array)
    return redactor.contains(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1'));
  if (isList(data)) return data.some((item) => holdsSecret(redactor, item));
  return Object.entries(data).some(([key, value]) => redactor.contains(key) || holdsSecret(redactor, value));
}

const isList = (data: object): data is readonly Data[] => Array.isArray(data);
