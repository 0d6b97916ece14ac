/** The audit log, as a resource without verbs: other changes write acts, auditors read them. */
import { hash } from 'node:crypto';
import type { AuditKey } from '@gantry/http';
import { type Act, actsWire, newId } from '@gantry/protocol';
import { creation, resource } from '@gantry/resources';
import type { Parts } from '../parts.ts';

/** Covers questions about the last year. */
const KEPT_MS = 400 * 86_400_000;

type Recorded<T> = T extends Act ? Omit<T, 'actId' | 'ts'> : never;
export type ActRecord = Recorded<Act>;

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

const DAY_MS = 86_400_000;

/** The id of a use follows from key and day: processes record it once. */
export const keyAudit =
  ({ now, randomBytes }: Pick<Parts, 'now' | 'randomBytes'>): AuditKey =>
  ({ type, key: { keyId, tenant, workspace, principal }, by }) => {
    const at = now();
    const id =
      type === 'key.used'
        ? newId(acts.idPrefix, at - (at % DAY_MS), (bytes) =>
            hash('sha256', keyId, 'buffer').subarray(0, bytes),
          )
        : newId(acts.idPrefix, at, randomBytes);
    return creation(acts, { tenant, workspace, id }, { type, keyId, principal, by }, at);
  };
