/**
 * All calls of models go through here.
 *
 * I1  A try is claimed together with its maximum cost, before anything is sent, and recorded together with its actual
 *     cost and its events. A recorded call is never made again.
 * I2  A try of unknown outcome stays claimed and paid for. The next one is claimed in the commit that closes the
 *     channel of the one before.
 * I3  Temporary failures are not recorded: a later attempt of the node calls again.
 * I4  A request that was sent and ended without an answer costs what arrived of it, and the whole reservation if
 *     nothing did: what the provider served meanwhile is not known. A refusal costs nothing.
 */
import { ModelFailure, mergeMs, nextAfter, type Tried } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import { OpenwopError } from '@gantry/protocol';
import { leaseLost, leaseOf } from '@gantry/resources';
import type { CommitResult, Write } from '@gantry/store';
import type { Redactions } from '../redaction/redactions.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { CallClaims, type CallClaimsOptions, type Claimed, channelOf, closed, idOf } from './call-claims.ts';
import { type Cost, costOfFailure, failureOf, recordOf, settlement, told } from './call-record.ts';
import { ChunkFeed } from './chunk-feed.ts';
import { adjusting, settling } from './ledger.ts';
import type { MediaStore } from './media-store.ts';
import type {
  Attempted,
  AttemptIo,
  CallingNode,
  CallPlace,
  PlannedCall,
  RecordedCall,
} from './planned-call.ts';

export interface ModelCallsOptions extends CallClaimsOptions {
  readonly redactions: Pick<Redactions, 'of'>;
  readonly media: Pick<MediaStore, 'keeping'>;
  readonly clock: Clock;
}

interface Ending {
  readonly claimed: Claimed;
  readonly record: RecordedCall;
  readonly events: readonly EmittedEvent[];
  /** Stored with the record. */
  readonly writes?: readonly Write[];
}

type Known =
  | { readonly kind: 'recorded'; readonly record: RecordedCall }
  /** The next try, and whether the one before it was lost. */
  | {
      readonly kind: 'open';
      readonly tried: number;
      readonly lost: boolean;
      /** The first events of the call are not in the log yet. */
      readonly isFirstUntold: boolean;
    };

/** One claim of a call. */
interface Try {
  readonly claimed: Claimed;
  /** How many tries broke before it. */
  readonly broken: number;
  /** Decisions about the key, of this try and those before it. */
  readonly decided: EmittedEvent[];
}

/** What came of one request of a try. */
class SentRequest {
  isSent = false;
  hasText = false;
  arrived = '';
  readonly io: Pick<AttemptIo, 'text' | 'other' | 'onSend'>;

  constructor(feed: ChunkFeed | null) {
    this.io = {
      onSend: () => {
        this.isSent = true;
      },
      text: (piece) => {
        this.hasText = true;
        this.arrived += piece;
        return feed?.push(piece);
      },
      other: (piece) => {
        this.arrived += piece;
      },
    };
  }
}

const decisionsTo = (events: EmittedEvent[]): Pick<AttemptIo, 'onDecision'> => ({
  onDecision: (decision) => void events.push({ type: 'egress.decided', payload: { ...decision } }),
});

type Recorded = { readonly ok: true; readonly outputs: { readonly call: RecordedCall } };

/** A call that was tried this often was cut off each time, so no further try is made. */
const TRIES_KNOWN_MAX = 1_000;

export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #claims: CallClaims;
  readonly #underWay = new Map<string, Promise<RecordedCall>>();
  /** Calls made by this process whose record is not committed yet. */
  readonly #unrecorded = new Map<string, Ending>();
  #streams = 0;

  constructor(options: ModelCallsOptions) {
    this.#options = options;
    this.#claims = new CallClaims(options);
  }

  /** Returns the record if there is one; `plan` is called only when the call has to be made. */
  perform(node: CallingNode, place: CallPlace, plan: () => Promise<PlannedCall>): Promise<RecordedCall> {
    const id = idOf(node, place, 0);
    const underWay = this.#underWay.get(id);
    if (underWay) return underWay;
    const call = this.#perform(node, place, plan).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, call);
    return call;
  }

  async #perform(
    node: CallingNode,
    place: CallPlace,
    plan: () => Promise<PlannedCall>,
  ): Promise<RecordedCall> {
    const known = await this.#known(node, place);
    if (known.kind === 'recorded') return known.record;
    const call = await plan();
    let { tried, lost, isFirstUntold } = known;
    if (lost && call.once) throw inDoubt(call);
    const decided: EmittedEvent[] = [];
    for (let broken = 0; ; tried++) {
      const closing = [
        ...(isFirstUntold ? (place.first ?? []) : []),
        ...(lost && call.streams ? [closed(node, place, tried - 1)] : []),
      ];
      const claimed = await this.#claims.claim(node, place, call, { tried, closing });
      isFirstUntold &&= claimed.untold.length > 0;
      const ended = await this.#attempt(node, place, call, { claimed, broken, decided });
      if (ended !== 'broken') return ended;
      broken++;
      lost = true;
    }
  }

  /** The state of the call after earlier processes, or an earlier attempt of the node. */
  async #known(node: CallingNode, place: CallPlace): Promise<Known> {
    const { tenant } = node.owner;
    let lost = false;
    let isFirstUntold = true;
    for (let tried = 0; tried < TRIES_KNOWN_MAX; tried++) {
      const invocationId = idOf(node, place, tried);
      const before = await this.#options.store.records.invocation(tenant, invocationId);
      if (!before) return { kind: 'open', tried, lost, isFirstUntold };
      isFirstUntold &&= before.outcome === null && before.eventsPending;
      if (before.outcome !== null) {
        this.#unrecorded.delete(invocationId);
        const { pending, outputs } = JSON.parse(before.outcome) as Recorded & { pending?: EmittedEvent[] };
        // Lost: another process has emitted it; refused: the next repeat emits it
        if (before.eventsPending && pending)
          await node.tell(pending, [{ kind: 'tellInvocation', tenant, invocationId }]);
        if (!outputs.call.aborted) return { kind: 'recorded', record: outputs.call };
        lost = false;
        continue;
      }
      const unrecorded = this.#unrecorded.get(invocationId);
      if (unrecorded) return { kind: 'recorded', record: await this.#record(node, unrecorded) };
      lost = true;
    }
    throw new OpenwopError('provider_unavailable', { message: 'The call was interrupted too often.' });
  }

  /** One try. It includes waits for rate limits of the provider. */
  async #attempt(
    node: CallingNode,
    place: CallPlace,
    call: PlannedCall,
    { claimed, broken: brokenBefore, decided }: Try,
  ): Promise<RecordedCall | 'broken'> {
    const { clock } = this.#options;
    const startedAt = clock.elapsedMs();
    const feed = call.streams ? this.#feed(node, place, call, claimed) : null;
    const tried: { -readonly [Key in keyof Tried]: Tried[Key] } = {
      broken: brokenBefore + 1,
      waits: 0,
      waitedMs: 0,
    };
    const ends = (rest: Partial<RecordedCall>, cost: Cost): RecordedCall =>
      recordOf(place, call, { ...rest, ...cost, durationMs: Math.round(clock.elapsedMs() - startedAt) });
    for (;;) {
      const request = new SentRequest(feed);
      const io = { asked: claimed.tried + tried.waits, ...request.io, ...decisionsTo(decided) };
      const attempted = await this.#once(node, call, claimed, io);
      if (!(attempted instanceof Error)) {
        const { answer, usage, model = call.model, media = [] } = attempted;
        const { stored, writes, events: made } = this.#options.media.keeping(node, media);
        const record = ends({ answer, model, ...(stored.length > 0 && { media: stored }) }, { usage });
        const events = call.goesOn ? [] : await told(node, claimed, attempted, record, feed);
        const all = [...decided, ...events, ...made];
        return this.#record(node, { claimed, record, events: all, writes });
      }
      const cost = costOfFailure(attempted, call, claimed, request);
      if (node.signal.aborted) {
        await feed?.stop();
        if (call.once && request.isSent) throw node.signal.reason;
        await this.#abandon(node, { claimed, record: ends({ aborted: true }, cost), events: decided });
        throw node.signal.reason;
      }
      if (!(attempted instanceof ModelFailure)) throw attempted;
      if (attempted.kind === 'broken') {
        await this.#chargeExcess(node, claimed, ends({}, cost));
        if (call.once) throw inDoubt(call);
      }
      const next = nextAfter(attempted, tried);
      if (next.kind === 'failed') {
        const failure = failureOf(call, attempted, next);
        // The cost of a broken try is unknown: it gets no record that would name its key
        const rest = [
          ...(attempted.kind === 'broken' ? decided : []),
          ...(request.hasText && feed ? await feed.end() : []),
        ];
        if (rest.length > 0) await node.tell(rest, []);
        if (!next.retriable)
          return this.#record(node, { claimed, record: ends({ failure }, cost), events: decided });
        if (attempted.kind !== 'broken')
          await this.#abandon(node, { claimed, record: ends({ aborted: true }, cost), events: decided });
        throw new OpenwopError(failure.code, failure);
      }
      await pause(clock, next.waitMs, node.signal);
      if (next.kind === 'another') {
        await feed?.stop();
        node.signal.throwIfAborted();
        return 'broken';
      }
      tried.waits++;
      tried.waitedMs += next.waitMs;
    }
  }

  /** A broken try stays claimed with its reservation; what arrived may have cost more. */
  async #chargeExcess(node: CallingNode, { account, reserved }: Claimed, { spent }: RecordedCall) {
    const tokens = Math.max(0, spent.tokens - reserved.tokens);
    const cost = Math.max(0, spent.cost - reserved.cost);
    if (tokens + cost === 0) return;
    const lease = leaseOf(node.epoch, this.#options.now());
    await this.#options.pipeline.commit([lease, ...adjusting(account, { tokens, cost })]);
  }

  async #once(
    { signal }: CallingNode,
    call: PlannedCall,
    { invocationId: idempotencyKey, outputTokens }: Claimed,
    io: Omit<AttemptIo, 'signal' | 'idempotencyKey' | 'outputTokens'>,
  ): Promise<Attempted | Error> {
    this.#streams++;
    try {
      return await call.attempt({ ...io, signal, idempotencyKey, outputTokens });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#streams--;
    }
  }

  #feed(node: CallingNode, place: CallPlace, { streams }: PlannedCall, { tried }: Claimed): ChunkFeed {
    const { clock, redactions } = this.#options;
    return new ChunkFeed({
      channel: channelOf(node, place, tried),
      tenant: node.owner.tenant,
      tell: node.tell,
      redactor: () => redactions.of(node.owner.tenant),
      clock,
      mergeMs: () => (streams === 'each' ? null : mergeMs(this.#streams)),
    });
  }

  /** One commit. While the run accepts no events, they are kept in the record. */
  async #record(node: CallingNode, ending: Ending): Promise<RecordedCall> {
    const { claimed, record, writes = [] } = ending;
    const { invocationId, account, reserved } = claimed;
    const events = [...claimed.untold, ...ending.events];
    const { tenant } = node.owner;
    this.#unrecorded.set(invocationId, ending);
    const after = [
      leaseOf(node.epoch, this.#options.now()),
      ...(record.goesOn ? [] : settling(account, reserved, { ...record.spent, ...record.usage })),
      ...writes,
    ];
    const told =
      events.length > 0
        ? await node.tell(events, [settlement(tenant, invocationId, record), ...after])
        : null;
    const result =
      told ??
      (await this.#options.pipeline.commit([settlement(tenant, invocationId, record, events), ...after]));
    this.#unrecorded.delete(invocationId);
    if (result.won) return record;
    return this.#otherRecord(tenant, invocationId, result);
  }

  /** The call was recorded before, by a commit whose answer was lost. */
  async #otherRecord(
    tenant: string,
    invocationId: string,
    { write }: Extract<CommitResult, { won: false }>,
  ): Promise<RecordedCall> {
    const before = await this.#options.store.records.invocation(tenant, invocationId);
    if (write > 0 || before?.outcome == null) throw leaseLost();
    return (JSON.parse(before.outcome) as Recorded).outputs.call;
  }

  /** Charges the actual usage and releases the rest of the reservation. If that fails, the claim stays open. */
  async #abandon(node: CallingNode, ending: Ending): Promise<void> {
    await this.#record(node, ending).catch(() => {
      this.#unrecorded.delete(ending.claimed.invocationId);
    });
  }
}

const inDoubt = ({ provider, model }: PlannedCall): OpenwopError =>
  new OpenwopError('effect_in_doubt', {
    message: `${provider} (${model}) received a request and may have started work. Check the account at the provider before you start another run.`,
    details: { provider, model },
  });
