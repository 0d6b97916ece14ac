/** How the process that works on a run answers one that forwarded a command to it. */
import type { Refusal } from '@gantry/engine';
import type { Entry, Store, Write } from '@gantry/store';
import type { Postage } from './mail.ts';
import type { CommandResult } from './runtime.ts';

export const REPLY = 'reply';
const REPLY_KEPT_MS = 60_000;

export type Reply = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly refusal?: Refusal };

export function replyWrite(
  { now }: Postage,
  mail: Entry,
  replyId: string | undefined,
  result: CommandResult,
): Write[] {
  if (replyId === undefined) return [];
  const reply: Reply =
    result.kind === 'refused'
      ? { kind: 'refused', ...(result.refusal && { refusal: result.refusal }) }
      : { kind: 'done' };
  const at = now();
  const entry = {
    kind: REPLY,
    tenant: mail.tenant,
    id: replyId,
    ref: mail.ref,
    dueAt: null,
    expiresAt: at + REPLY_KEPT_MS,
    createdAt: at,
    body: JSON.stringify(reply),
  };
  return [{ kind: 'putEntry', entry, expectedVersion: null }];
}

export async function readReply(
  entries: Pick<Store['entries'], 'get'>,
  tenant: string,
  id: string,
): Promise<Reply | null> {
  const entry = await entries.get({ kind: REPLY, tenant, id });
  return entry ? JSON.parse(entry.body) : null;
}
