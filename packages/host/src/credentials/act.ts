/** The audit log, as a resource without verbs: other changes write acts, auditors read them. */
import { type Act, type ActType, actsWire } from '@gantry/protocol';
import { resource } from '@gantry/resources';

/** Covers questions about the last year. */
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
