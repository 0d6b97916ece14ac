/**
 * The log of a catalogue: each change appends one line, in the same commit.
 *
 * I1  Lines are dense from 1, and each commit takes the next one: of two concurrent commits one loses and is
 *     retried.
 * I2  A process at revision n has applied every line up to n.
 */
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import type { CatalogueName } from './catalogue.ts';
import { putEntry } from './entries.ts';

const KIND = 'registry-change';
const PAGE = 200;
/** A commit is only lost to another process, which has then made progress. */
const ATTEMPTS_MAX = 50;

type ChangeType =
  | 'published'
  | 'unpublished'
  | 'deprecated'
  | 'undeprecated'
  | 'yanked'
  | 'yank-reverted'
  | 'claimed'
  | 'claim-dropped'
  | 'key-rotated'
  | 'reset';

export interface Change {
  readonly type: ChangeType;
  /** The pack or the namespace that changed; `*` is all packs. */
  readonly name: string;
  readonly version?: string;
  /** The new owner of a claim. */
  readonly owner?: string;
  /** Id of the API key that made the change. */
  readonly by: string;
  readonly at: string;
}

export type Proposal<T> =
  | { readonly kind: 'nothing'; readonly result: T }
  | {
      readonly kind: 'change';
      readonly change: Omit<Change, 'at'>;
      readonly writes: readonly Write[];
      /** Called after the commit succeeded. */
      readonly apply: (revision: number) => void;
      readonly result: T;
    };

type Listener = (changes: readonly Change[]) => Promise<void>;

interface ChangeLogOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly catalogue: CatalogueName;
  readonly now: () => number;
  /** Called with each change that this process made, for the operator's log. */
  readonly tell?: (change: Omit<Change, 'at'>) => void;
}

const idOf = (revision: number): string => String(revision).padStart(15, '0');

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  readonly #listeners: Listener[] = [];
  #revision = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ChangeLogOptions) {
    this.#options = options;
  }

  /** The last line applied in this process. */
  get revision(): number {
    return this.#revision;
  }

  /** Called with lines that other processes wrote. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Everything read from the store after this is at least as new as the revision. */
  async start(): Promise<void> {
    const { store, catalogue } = this.#options;
    const [last] = await store.entries.list(KIND, catalogue, { limit: 1 });
    this.#revision = last === undefined ? 0 : Number(last.id);
  }

  /** Commits what `propose` returns. If another commit came first, `propose` is called again. */
  write<T>(propose: () => Promise<Proposal<T>>): Promise<T> {
    return this.#inTurn(() => this.#write(propose));
  }

  /** Applies the lines that other processes wrote. */
  catchUp(): Promise<void> {
    return this.#inTurn(() => this.#catchUp());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #write<T>(propose: () => Promise<Proposal<T>>): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const proposal = await propose();
      if (proposal.kind === 'nothing') return proposal.result;
      const [result] = await this.#options.store.commit([[this.#line(proposal.change), ...proposal.writes]]);
      if (result?.won) {
        this.#revision++;
        proposal.apply(this.#revision);
        this.#options.tell?.(proposal.change);
        return proposal.result;
      }
      await this.#catchUp();
    }
    throw new Error(`${ATTEMPTS_MAX} commits to the log of ${this.#options.catalogue} were lost in a row`);
  }

  #line(change: Omit<Change, 'at'>): Write {
    const now = this.#options.now();
    const key = { kind: KIND, tenant: this.#options.catalogue, id: idOf(this.#revision + 1) };
    const body: Change = { ...change, at: new Date(now).toISOString() };
    return putEntry(key, body, { now, ref: change.name, expectedVersion: null });
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const lines = await this.#linesAfter(this.#revision);
      const last = lines.at(-1);
      if (last === undefined) return;
      const changes = lines.map(({ body }): Change => JSON.parse(body));
      for (const listener of this.#listeners) await listener(changes);
      this.#revision = Number(last.id);
    }
  }

  async #linesAfter(revision: number): Promise<Entry[]> {
    const { store, catalogue } = this.#options;
    const after: EntryKey = { kind: KIND, tenant: catalogue, id: idOf(revision) };
    const page = await store.entries.all(KIND, after, PAGE);
    return page.filter(({ tenant }) => tenant === catalogue);
  }
}

export const isChange = (kind: string): boolean => kind === KIND;
