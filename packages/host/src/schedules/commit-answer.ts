import type { Answer, RecordAnswer } from '@gantry/http';
import type { CommitGroup, Store } from '@gantry/store';

/** A change and what a repeat of its request will get, in one commit. `stale`: someone else changed it first. */
export async function commitAnswer(
  { store, now }: { readonly store: Pick<Store, 'commit'>; readonly now: () => number },
  writes: CommitGroup,
  answer: Omit<Answer, 'recorded'>,
  record: RecordAnswer | undefined,
): Promise<Answer | 'duplicate' | 'stale'> {
  const group = record
    ? [...writes, { kind: 'idempotency', record: record(answer.status, answer.body), now: now() } as const]
    : writes;
  const [result] = await store.commit([group]);
  if (result?.won) return { ...answer, recorded: true };
  return result?.reason === 'exists' ? 'duplicate' : 'stale';
}
