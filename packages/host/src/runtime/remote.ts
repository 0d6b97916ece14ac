/** Follows changes of other processes on the same database, and forwards commands to them. */
import { newId, type OpenwopError } from '@gantry/protocol';
import { type CommitPipeline, type RunKey, type Store, type StoreChange, storedEntry } from '@gantry/store';
import type { Logger } from 'pino';
import type { Inputs } from './clock.ts';
import type { CommandRecord } from './command-answer.ts';
import type { EventHub } from './event-hub.ts';
import { MAIL, mailWrite } from './mail.ts';
import type { Mailbox } from './mailbox.ts';
import { REPLY, type Reply, readReply } from './reply.ts';
import { RETRY_AFTER_SECONDS, unavailable } from './run-errors.ts';
import type { RunCommand } from './runtime.ts';

/** The owner may just have died: its runs are taken over after its lease has expired. */
const REPLY_MS_MAX = 10_000;
const REPLY_WAIT_MS_MIN = 50;
const REPLY_WAIT_MS_MAX = 1_000;
const READS_AT_ONCE = 50;

export interface RemoteOptions extends Inputs {
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
      this.#follow(change).catch((error) =>
        this.#options.log.warn({ err: error }, 'changes of another process could not be read'),
      );
    });
  }

  async stop(): Promise<void> {
    const unwatch = this.#unwatch;
    this.#unwatch = undefined;
    this.lookForReplies();
    await unwatch?.();
  }

  /**
   * Forwards the command to the run's owner and waits for its reply. If the owner releases the run before it reads the
   * mail, this process executes the command. From the commit of the mail on, the command may be executed.
   */
  async forward(key: RunKey, command: RunCommand, record?: CommandRecord): Promise<Reply> {
    const { pipeline, mailbox, now, clock, randomBytes, log } = this.#options;
    const replyId = newId('reply', now(), randomBytes);
    const mail = mailWrite(this.#options, key, { type: 'forwarded', command, record, replyId });
    await pipeline.commit([mail]);
    const until = clock.elapsedMs() + REPLY_MS_MAX;
    for (let waitMs = REPLY_WAIT_MS_MIN; ; waitMs = Math.min(waitMs * 2, REPLY_WAIT_MS_MAX)) {
      const isOver = !(await this.#replyWithin(waitMs)) && clock.elapsedMs() > until;
      try {
        const reply = await readReply(this.#options.store.entries, key.tenant, replyId);
        if (reply) return reply;
        await mailbox.handOver(storedEntry(mail.entry, 1));
      } catch (error) {
        log.warn({ err: error, runId: key.runId }, 'the reply to a forwarded command could not be read');
      }
      if (isOver || this.#unwatch === undefined) throw unanswered();
    }
  }

  /** Called when a reply may be in the store. */
  lookForReplies(): void {
    for (const look of this.#waiting) look();
  }

  /** Whether a reply was announced within that time; the notification may be late or lost. */
  #replyWithin(waitMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = (): void => resolve(true);
    const cancel = this.#options.clock.after(waitMs, () => resolve(false));
    this.#waiting.add(look);
    return promise.finally(() => {
      cancel();
      this.#waiting.delete(look);
    });
  }

  async #follow({ runs, kinds, missed }: StoreChange): Promise<void> {
    const { hub, mailbox } = this.#options;
    if (missed || kinds.includes(REPLY)) this.lookForReplies();
    const moved = missed ? hub.followed() : runs.filter(({ runId }) => hub.isFollowed(runId));
    for (let at = 0; at < moved.length; at += READS_AT_ONCE)
      await Promise.all(moved.slice(at, at + READS_AT_ONCE).map((key) => this.#announce(key)));
    if (missed || kinds.includes(MAIL)) await mailbox.collectOwn();
  }

  /** The newest event is enough: readers that lack earlier ones read them from the store. */
  async #announce({ tenant, runId }: RunKey): Promise<void> {
    const { store, hub } = this.#options;
    const row = await store.runs.row(tenant, runId);
    if (!row || row.nextSeq === 0) return;
    hub.relay(runId, await store.runs.events(tenant, runId, row.nextSeq - 1, 1));
  }
}

const unanswered = (): OpenwopError =>
  unavailable(
    'Another process is working on this run and did not answer in time; the command may still be carried out. ' +
      `Repeat it in ${RETRY_AFTER_SECONDS} s with the same Idempotency-Key: it is then carried out once.`,
    { outcome: 'unknown' },
  );
