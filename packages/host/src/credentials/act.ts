/** Acts as a resource without verbs: written where they happen, read by auditors. */
import { type Act, type ActType, actsWire } from '@gantry/protocol';
import { resource } from '@gantry/resources';

/** As long as people ask what happened last year. */
const KEPT_MS = 400 * 86_400_000;

export type ActRecord = Omit<Act, 'actId' | 'ts' | 'type'> & { readonly type: ActType };

export const acts = resource<typeof actsWire, ActRecord>(actsWire, {
  kind: 'act',
  idPrefix: 'act',
  expiresAt: (_, now) => now + KEPT_MS,
  create: () => {
    throw new Error('acts are written by the host alone');
  },
  verbs: {},
  show: ({ id, createdAt, record }) => ({ actId: id, ...record, ts: new Date(createdAt).toISOString() }),
});
