/** What other processes on the same database do, and how this one has them do things. */
import { newId, OpenwopError } from '@gantry/protocol';
import type { RunKey, Store, StoreChange } from '@gantry/store';
import type { Logger } from 'pino';
import type { CommitPipeline } from './commit-pipeline.ts';
import type { EventHub } from './event-hub.ts';
import { MAIL, mailWrite, type Postage } from './mail.ts';
import type { Mailbox } from './mailbox.ts';
import { REPLY, type Reply, readReply } from './reply.ts';
import type { RunCommand } from './runtime.ts';

/** The owner may just have died: its runs are taken over after its lease has ended. */
const REPLY_MS_MAX = 10_000;
export const RETRY_AFTER_SECONDS = 1;

export interface RemoteOptions extends Postage {
  readonly store: Pick<Store, 'runs' | 'entries' | 'watch'>;
  readonly pipeline: CommitPipeline;
  readonly hub: EventHub;
  readonly mailbox: Mailbox;
  readonly log: Logger;
}

export class Remote {
  readonly #options: RemoteOptions;
  readonly #waiting = new Set<() => void>();
  #unwatch: (() => Promise<void>) | undefined;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#unwatch = await this.#options.store.watch((change) => {
      this.#heard(change).catch((error) =>
        this.#options.log.warn({ err: error }, 'news of another process could not be read'),
      );
    });
  }

  async stop(): Promise<void> {
    await this.#unwatch?.();
    for (const look of this.#waiting) look();
  }

  /** Puts the command into the owner's hands and waits for what it answers. */
  async forward(key: RunKey, command: RunCommand): Promise<Reply> {
    const { pipeline, now, randomBytes } = this.#options;
    const replyId = newId('reply', now(), randomBytes);
    const answer = this.#awaitReply(key.tenant, replyId);
    await pipeline.commit([mailWrite(this.#options, key, { type: 'forwarded', command, replyId })]);
    const reply = await answer;
    if (reply) return reply;
    throw new OpenwopError('service_unavailable', {
      message: `Another process is working on this run and did not answer. Try again in ${RETRY_AFTER_SECONDS} s.`,
      details: { retryAfter: RETRY_AFTER_SECONDS },
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    });
  }

  #awaitReply(tenant: string, replyId: string): Promise<Reply | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply | null>();
    const look = (): void => {
      readReply(this.#options.store.entries, tenant, replyId).then((reply) => {
        if (reply) resolve(reply);
      }, reject);
    };
    const timer = setTimeout(() => resolve(null), REPLY_MS_MAX);
    this.#waiting.add(look);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }

  async #heard({ runs, kinds, missed }: StoreChange): Promise<void> {
    const { hub, mailbox } = this.#options;
    if (missed || kinds.includes(REPLY)) for (const look of this.#waiting) look();
    await Promise.all(runs.filter(({ runId }) => hub.isFollowed(runId)).map((key) => this.#announce(key)));
    if (missed || kinds.includes(MAIL)) await mailbox.collectOwn();
  }

  /** The newest event is enough: readers who lack earlier ones go back to the store for them. */
  async #announce({ tenant, runId }: RunKey): Promise<void> {
    const { store, hub } = this.#options;
    const row = await store.runs.row(tenant, runId);
    if (!row || row.nextSeq === 0) return;
    hub.publish(runId, await store.runs.events(tenant, runId, row.nextSeq - 1, 1));
  }
}
