/** Writes whose record is kept beside them: one call acts once. */
import { assertSameCall } from '../call-journal.ts';
import type { PortWrite } from '../surface-call.ts';
import type { RedisDatabase } from './connection.ts';
import { type Area, dueKey, keysOf } from './places.ts';
import { SCRIPTS, type Script } from './scripts.ts';

export interface RedisDeps {
  readonly database: RedisDatabase;
  readonly invocationRetentionMs: number;
}

export type Acted =
  /** `note` is what a script says beside the answer. */
  | { readonly kind: 'done'; readonly answer: unknown; readonly note?: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string };

export async function act(
  { database, invocationRetentionMs }: RedisDeps,
  script: Script,
  { area, call }: { readonly area: Area; readonly call: PortWrite },
  args: readonly (string | number | Uint8Array)[],
): Promise<Acted> {
  const { tenant, now, invocation } = call;
  const { id, method, fingerprint } = invocation;
  const keys = keysOf(area, tenant, id);
  for (;;) {
    const reply = await database.run(script, keys, [
      now,
      tenant,
      method,
      fingerprint,
      invocationRetentionMs,
      ...args,
    ]);
    const [kind, text = '', note] = reply as string[];
    switch (kind) {
      case 'done':
        return { kind, answer: JSON.parse(text), note };
      case 'recorded':
        return { kind: 'done', answer: recorded(text, call) };
      case 'refused':
        return { kind, reason: text };
      // Every time some of the work is done, so this ends
      case 'again':
        continue;
      default:
        throw new Error(`A script answered ${kind}`);
    }
  }
}

function recorded(text: string, { invocation }: PortWrite): unknown {
  const [method = '', fingerprint = '', ...answer] = text.split('\n');
  assertSameCall(invocation, { method, fingerprint });
  return JSON.parse(answer.join('\n'));
}

const BATCH = 500;

/** Deletes what is past its time, tenant by tenant; answers how much it was. */
export async function sweep(database: RedisDatabase, area: Area, now: number): Promise<number> {
  for (let deleted = 0; ; ) {
    const [tenant] = await database.ask((redis) => redis.zrangebyscore(dueKey(area), 0, now, 'LIMIT', 0, 1));
    if (tenant === undefined) return deleted;
    const count = await database.run(SCRIPTS.sweep, keysOf(area, tenant), [now, tenant, BATCH]);
    deleted += Number(count);
  }
}
