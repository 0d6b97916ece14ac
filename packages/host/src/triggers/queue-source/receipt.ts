import { createCursors, deliveryTokens } from '@gantry/surfaces';
import type { MasterKey } from '../../master-key.ts';
import { surfaceCursorKey } from '../../surfaces/surfaces.ts';

/** As the surfaces of this host seal what they hand out, so that `ctx.queueBus.ack` knows it. */
export const receipts = (masterKey: MasterKey): ((tenant: string, messageId: string) => string) =>
  deliveryTokens(createCursors(surfaceCursorKey(masterKey))).receipt;
