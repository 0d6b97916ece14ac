/** Tokens of deliveries for pack code. They are sealed for their tenant, so they cannot be forged or transferred. */
import { OpenwopError } from '@gantry/protocol';
import type { Cursors } from '../../calls/cursor.ts';

export interface DeliveryTokens {
  seal(tenant: string, handle: string): string;
  /** Throws `queue_delivery_token_expired`, also for a forged token. */
  open(tenant: string, token: string): OpenedToken;
  /** For a message that started a run and is already acknowledged: packs may acknowledge it once more. */
  receipt(tenant: string, messageId: string): string;
}

export type OpenedToken =
  | { readonly kind: 'delivery'; readonly handle: string }
  | { readonly kind: 'receipt' };

export function deliveryTokens(cursors: Cursors): DeliveryTokens {
  const read = (kind: string, tenant: string, token: string): string | null => {
    try {
      return cursors.open([tenant, kind], token);
    } catch (error) {
      if (error instanceof OpenwopError) return null;
      throw error;
    }
  };
  return {
    seal: (tenant, handle) => cursors.seal([tenant, 'queue.delivery'], handle),
    open(tenant, token) {
      const handle = read('queue.delivery', tenant, token);
      if (handle !== null) return { kind: 'delivery', handle };
      if (read('queue.receipt', tenant, token) === null)
        throw new OpenwopError('queue_delivery_token_expired');
      return { kind: 'receipt' };
    },
    receipt: (tenant, messageId) => cursors.seal([tenant, 'queue.receipt'], messageId),
  };
}
