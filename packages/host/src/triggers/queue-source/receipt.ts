import { createCursors, deliveryTokens } from '@gantry/surfaces';
import type { MasterKey } from '../../master-key.ts';

/** As the surfaces of this host seal what they hand out, so that `ctx.queueBus.ack` knows it. */
export const receipts = (masterKey: MasterKey): ((tenant: string, messageId: string) => string) =>
  deliveryTokens(createCursors(masterKey.hmac('surface-cursor')('v1'))).receipt;
