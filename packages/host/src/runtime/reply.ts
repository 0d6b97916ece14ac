/** The reply of the process that works on a run to the one that forwarded a command. */
import type { Refusal } from '@gantry/engine';
import { given } from '@gantry/protocol';
import type { Entry, Store, Write } from '@gantry/store';
import type { Inputs } from './clock.ts';
import type { CommandResult } from './runtime.ts';

export const REPLY = 'reply';
const REPLY_KEPT_MS = 60_000;

export type Reply =
  | { readonly kind: 'done'; readonly body?: string }
  | { readonly kind: 'refused'; readonly refusal?: Refusal }
  /** Its idempotency record existed already. */
  | { readonly kind: 'duplicate' };

export function replyWrite(
  { now }: Inputs,
  mail: Entry,
  replyId: string | undefined,
  result: CommandResult,
): Write[] {
  if (replyId === undefined) return [];
  const at = now();
  const entry = {
    kind: REPLY,
    tenant: mail.tenant,
    id: replyId,
    ref: mail.ref,
    dueAt: null,
    expiresAt: at + REPLY_KEPT_MS,
    createdAt: at,
    body: JSON.stringify(replyOf(result)),
  };
  return [{ kind: 'putEntry', entry, expectedVersion: null }];
}

function replyOf(result: CommandResult): Reply {
  if (result.kind === 'done') return given({ kind: result.kind, body: result.body });
  if (result.kind === 'refused') return given({ kind: result.kind, refusal: result.refusal });
  return { kind: 'duplicate' };
}

export const isReply = (write: Write): boolean => write.kind === 'putEntry' && write.entry.kind === REPLY;

export async function readReply(
  entries: Pick<Store['entries'], 'get'>,
  tenant: string,
  id: string,
): Promise<Reply | null> {
  const entry = await entries.get({ kind: REPLY, tenant, id });
  return entry ? JSON.parse(entry.body) : null;
}
