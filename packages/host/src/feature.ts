/**
 * A feature is a folder with a literal, and a line of `features.ts`. Its service, start and stop, commit hook, sweep,
 * routes, executors and outbox follow from that list.
 *
 * F1  A feature is opened after those that it needs: an order in which one is missing does not compile.
 * F2  Features start in the order of the list, and stop in the reverse order.
 * F3  Each kind of record belongs to one feature, which hears of commits of this process to it.
 * F4  If one does not open, those before it are stopped.
 */
import type { Api, Idempotency } from '@gantry/http';
import type { Wire } from '@gantry/protocol';
import type { RecordKind } from '@gantry/resources';
import type { CommitGroup, Write } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import { changesRoute, type FeedDeps } from './api/resource-changes.ts';
import type { AnyService } from './api/resource-route.ts';
import { resourceRoutes, type Warnings } from './api/resources.ts';
import type { Executor } from './runtime/outside-work.ts';
import type { Outbox } from './runtime/runtime.ts';

/** A kind of whatever record type, or the name of entries that are not records. */
export type AnyKind = RecordKind<never> | string;

/** What the host calls on a service that has it. */
interface Lifetime {
  /** Called with writes of the kinds of this feature, after their commit by this process. */
  committed?(group: CommitGroup): void;
  start?(): Promise<void>;
  stop?(): Promise<void>;
  /** Deletes what is no longer needed; answers how much. */
  sweep?(): Promise<number>;
  /** Deletes what belongs to a run that somebody deletes. */
  forgetRun?(tenant: string, runId: string): Promise<void>;
}

/** `P`: what it needs, parts of the host and services of features before it. `S`: its service. */
export interface Feature<N extends string, P, S extends object> {
  readonly name: N;
  readonly kinds: readonly AnyKind[];
  open(parts: P): S | Promise<S>;
  /** Resources whose routes, OpenAPI and access follow from their wire. */
  resources?(service: S, parts: P): readonly (readonly [Wire, AnyService, Warnings?])[];
  /** Routes that the protocol defines differently. */
  routes?(app: Api, service: S, http: Http, parts: P): void;
  /** Executors of node types, by type. They and the outbox are for the runtime, so the feature opens before it. */
  executors?(service: S, parts: P): Readonly<Record<string, Executor>>;
  outbox?(service: S): Outbox;
}

export interface Http extends FeedDeps {
  readonly idempotency: Idempotency;
  /** The origin of absolute URLs in answers. */
  readonly originOf: (request: Pick<FastifyRequest, 'protocol' | 'host'>) => string;
}

/** What features offer to the runtime. */
export class Offers {
  #executors: Record<string, Executor> = {};
  readonly #outboxes: Outbox[] = [];
  #isTaken = false;

  add({ name, executors, outbox }: AnyFeature, service: object, parts: object): void {
    if (!executors && !outbox) return;
    if (this.#isTaken) throw new Error(`${name} offers work to the runtime, so it has to open before it`);
    this.#executors = { ...this.#executors, ...executors?.(service, parts as never) };
    if (outbox) this.#outboxes.push(outbox(service));
  }

  take(): { readonly executors: Readonly<Record<string, Executor>>; readonly outbox: Outbox } {
    this.#isTaken = true;
    const outboxes = this.#outboxes;
    return {
      executors: this.#executors,
      outbox: {
        writes: (facts, events) => outboxes.flatMap((each) => each.writes(facts, events)),
        committed: () => {
          for (const each of outboxes) each.committed();
        },
      },
    };
  }
}

/** Infers what a feature needs and what it offers. */
export const feature = <const N extends string, P, S extends object>(
  literal: Feature<N, P, S>,
): Feature<N, P, S> => literal;

type AnyFeature = Feature<string, never, object>;
type NeedsOf<F> = F extends { open(parts: infer P): unknown } ? P : never;
type OpenedOf<F> = F extends { open(parts: never): infer S } ? Awaited<S> : never;
type Missing<Needs, Have> = keyof {
  [K in keyof Needs as Have extends Pick<Needs, K> ? never : K]: 1;
};

/** `in order` if each feature finds what it needs, else a sentence about the first that does not. F1. */
export type Order<L extends readonly unknown[], Have> = L extends readonly [
  infer F extends AnyFeature,
  ...infer Rest,
]
  ? Have extends NeedsOf<F>
    ? Order<Rest, Have & { readonly [N in F['name']]: OpenedOf<F> }>
    : `${F['name']} needs ${Missing<NeedsOf<F>, Have> & string}, which is not opened before it`
  : 'in order';

export type ServicesOf<L extends readonly AnyFeature[]> = {
  readonly [F in L[number] as F['name']]: OpenedOf<F>;
};

interface Opened {
  readonly of: AnyFeature;
  readonly service: Lifetime;
  readonly parts: object;
}

export class Features<L extends readonly AnyFeature[]> {
  readonly #list: L;
  readonly kinds: readonly AnyKind[];
  readonly #opened: Opened[] = [];
  /** By kind. */
  readonly #hooks = new Map<string, Lifetime>();
  #started: Promise<void> | undefined;

  constructor(list: L) {
    this.#list = list;
    checkKinds(list);
    this.kinds = list.flatMap(({ kinds }) => kinds);
  }

  /** F1, F4. `Order` has checked that `parts` and the services before it are what each feature needs. */
  async open(parts: object): Promise<ServicesOf<L>> {
    const services: Record<string, object> = {};
    const offers = new Offers();
    try {
      for (const of of this.#list) {
        const given = { ...parts, offers, kinds: this.kinds, ...services };
        const service: Lifetime & object = await of.open(given as never);
        services[of.name] = service;
        this.#opened.push({ of, service, parts: given });
        offers.add(of, service, given);
        if (service.committed) for (const kind of of.kinds) this.#hooks.set(kindName(kind), service);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    return services as ServicesOf<L>;
  }

  /** F3. To be called with each group that this process has committed. */
  readonly committed = (group: CommitGroup): void => {
    for (const write of group) {
      const kind = entryKind(write);
      if (kind !== undefined) this.#hooks.get(kind)?.committed?.([write]);
    }
  };

  /**
   * F2. Continues everything that earlier processes left, and due work. Callers that send requests without a port may
   * call only this, and listen later.
   */
  start(): Promise<void> {
    this.#started ??= this.#startAll();
    return this.#started;
  }

  /** F2. Waits for pending commits. */
  async stop(): Promise<void> {
    for (const { service } of this.#opened.toReversed()) await service.stop?.();
  }

  async sweep(): Promise<number> {
    let swept = 0;
    for (const { service } of this.#opened) swept += (await service.sweep?.()) ?? 0;
    return swept;
  }

  async forgetRun(tenant: string, runId: string): Promise<void> {
    for (const { service } of this.#opened) await service.forgetRun?.(tenant, runId);
  }

  routes(app: Api, http: Http): void {
    for (const { of, service, parts } of this.#opened) {
      for (const [wire, served, warnings] of of.resources?.(service, parts as never) ?? []) {
        resourceRoutes(app, wire, served, http.idempotency, warnings);
        if (served.kind.feed) changesRoute(app, http, wire, served.kind);
      }
      of.routes?.(app, service, http, parts as never);
    }
  }

  async #startAll(): Promise<void> {
    for (const { service } of this.#opened) await service.start?.();
  }
}

export const kindName = (kind: AnyKind): string => (typeof kind === 'string' ? kind : kind.kind);

const entryKind = (write: Write): string | undefined =>
  write.kind === 'putEntry' ? write.entry.kind : write.kind === 'deleteEntry' ? write.key.kind : undefined;

/** F3. */
function checkKinds(list: readonly AnyFeature[]): void {
  const owners = new Map<string, string>();
  for (const { name, kinds } of list)
    for (const kind of kinds.map(kindName)) {
      const other = owners.get(kind);
      if (other !== undefined)
        throw new Error(`Records of the kind ${kind} belong to ${other} and to ${name}`);
      owners.set(kind, name);
    }
}
