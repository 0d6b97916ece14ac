/**
 * The calls of one running node.
 *
 * I1  The caller comes from the run. No argument names a tenant.
 * I2  Writes and effects are numbered in order of arrival, before anything is awaited. Each series is numbered
 *     separately: a series has one journal, and no journal could detect that two series changed places.
 * I3  Pack code sees an answer only after it is recorded, and only if it fits the schema.
 */
import { type ErrorCode, invalid, isHeldToNamed, isPartOf, OpenwopError } from '@gantry/protocol';
import { ServerError, stateOf, toReader } from '../backend-errors.ts';
import {
  type CallJournal,
  expectOneWrite,
  invocationId,
  journalKeyOf,
  numbered,
  providerKeyOf,
  recallOf,
  warnOfOtherInput,
} from './call-journal.ts';
import { type Data, type DataObject, fingerprintOf, isObject } from './data.ts';
import type { ImplementedSurface, Journal } from './define-surface.ts';
import { forPack, type HostCall, journaled, type ToolCall } from './journaled-call.ts';
import type { Route, Routes } from './routes.ts';
import type { AnswerKeys } from './sealed-answer.ts';
import { SeenReads } from './seen-reads.ts';
import { through } from './spelling.ts';
import {
  type NodeFacts,
  type NumberedCall,
  notAllowed,
  notPure,
  type PackRef,
  type ReadCall,
  type SurfaceCaller,
} from './surface-call.ts';

/** The channel of a call. */
export interface CallIo {
  /** Incremented when the node is dispatched again: its calls start over. */
  readonly dispatch: number;
  readonly signal: AbortSignal;
  /** For streams: resolves when pack code has taken the value. */
  send(value: Data): Promise<void>;
}

/** For the log, metrics and audit. No arguments and no answers. */
export interface CallReport {
  readonly surface: string;
  readonly method: string;
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly pack: PackRef;
  readonly ms: number;
  readonly ok: boolean;
  /** Absent when the node ended before its call: the outcome of the call is unknown here. */
  readonly code?: ErrorCode;
  /** The state of the server behind the surface, if that is the cause. */
  readonly server?: 'unreachable' | 'rejected';
  /** With `server`: which server has which problem. For the operator only. */
  readonly reason?: string;
  /** The cause of a host fault; never shown to pack code. */
  readonly fault?: unknown;
}

export interface CallDeps {
  readonly now: () => number;
  /** Whether data from pack code contains an open secret of the tenant, in any encoding. */
  readonly holdsSecret?: (tenant: string, sent: Data) => boolean;
  /** Without it, answers are recorded unsealed. */
  readonly answerKeys?: AnswerKeys;
  readonly onCall: (report: CallReport) => void;
}

interface Admitted {
  readonly route: Route;
  readonly sent: DataObject;
  readonly input: DataObject;
  readonly call: ReadCall;
  readonly write: NumberedWrite | null;
}

interface NumberedWrite {
  readonly journal: Journal;
  readonly series: string;
  readonly ordinal: number;
  /** Resolves when the node's reads are recorded. */
  readonly seen: Promise<void> | undefined;
  readonly tool?: ToolCall;
}

/** Per series and visit: below the distance between visits, and a limit for the journal. */
const WRITES_MAX = 100_000;

const UNTOLD = 'The host failed to carry out this call. See its log for the id of the run.';

export class NodeCalls {
  readonly #routes: Routes;
  readonly #deps: CallDeps;
  readonly #facts: NodeFacts;
  readonly #caller: SurfaceCaller;
  readonly #journal: CallJournal;
  #dispatch = 0;
  #reads: SeenReads;
  readonly #writes = new Map<string, number>();
  /** Surfaces that the manifest names. */
  readonly #declared: ReadonlySet<ImplementedSurface>;
  readonly #granted: ReadonlySet<ImplementedSurface> | undefined;

  constructor(routes: Routes, deps: CallDeps, facts: NodeFacts, journal: CallJournal) {
    this.#routes = routes;
    this.#deps = deps;
    this.#facts = facts;
    const { runId, nodeId, pack, effect, work, ordinalBase, cancelled } = facts;
    const node = { runId, nodeId, pack, effect, ordinalBase };
    this.#caller = { kind: 'node', ...node, ...(work && { work }), ...(cancelled && { cancelled }) };
    this.#journal = journal;
    this.#reads = new SeenReads(journal, facts);
    this.#declared = routes.namedBy(facts.peers);
    this.#granted = facts.granted && routes.namedBy(facts.granted);
  }

  /** The tools that the pack requested, by their names in events. */
  tools(): string[] {
    const asked = new Set([...this.#declared, ...(this.#granted ?? [])]);
    const routes = [...this.#routes.paths.values()].flat().filter(({ surface }) => asked.has(surface));
    return [...new Set(routes.flatMap(({ method: { tool } }) => (tool ? [tool.name] : [])))];
  }

  /** Rejects with `OpenwopError` only, or with the reason of the signal. */
  async call(path: string, args: readonly Data[], io: CallIo): Promise<Data | undefined> {
    const startedAt = this.#deps.now();
    let route: Route | undefined;
    const report = (ended: Pick<CallReport, 'ok' | 'code' | 'server' | 'reason' | 'fault'>): void =>
      this.#deps.onCall({ ...this.#reportOf(path, route), ms: this.#deps.now() - startedAt, ...ended });
    try {
      const sent = this.#routes.argumentOf(path, args);
      route = this.#routes.find(path, sent);
      const admitted = this.#admit(route, sent, io, startedAt);
      const answer = await this.#answer(admitted, io);
      report({ ok: true });
      return answer;
    } catch (thrown) {
      if (io.signal.aborted) report({ ok: false });
      io.signal.throwIfAborted();
      const error = route?.method.effect === 'read' ? toReader(thrown) : thrown;
      const expected = error instanceof OpenwopError;
      const refusal = expected ? forPack(error) : new OpenwopError('internal_error', { message: UNTOLD });
      const fault = expected ? error.cause : error;
      report({ ok: false, code: refusal.code, ...serverOf(error), ...(fault !== undefined && { fault }) });
      throw refusal;
    }
  }

  #reportOf(path: string, route: Route | undefined): Omit<CallReport, 'ms' | 'ok'> {
    const { tenant, runId, nodeId, pack } = this.#facts;
    const [surface, method] = route ? [route.surface.literal.capability, route.name] : [path, ''];
    return { surface, method, tenant, runId, nodeId, pack };
  }

  /** All refusals happen here, before anything else. */
  #admit(route: Route, sent: DataObject, io: CallIo, now: number): Admitted {
    io.signal.throwIfAborted();
    if (io.dispatch !== this.#dispatch) this.#beginAnew(io.dispatch);
    const { owner } = this.#facts;
    const { tenant } = owner;
    const writes = route.method.effect !== 'read';
    if (!route.surface.literal.primitive) this.#assertAllowed(route, writes);
    if (!route.surface.literal.consumesSecrets && this.#deps.holdsSecret?.(tenant, sent))
      throw new OpenwopError('secret_in_arguments');
    const input = through(route.takes, sent, { input: sent, now });
    route.checkInput(input);
    const call = { owner, tenant, caller: this.#caller, signal: io.signal, now };
    return { route, sent, input, call, write: writes ? this.#number(route, input, call) : null };
  }

  /** Whether some call of the path can be allowed. */
  mayCall(path: string): boolean {
    return this.#routes.paths.get(path)?.some(({ surface }) => this.#allows(surface)) ?? false;
  }

  /** The refusal of a call that the code could not make. `capability`: `host.kvStorage.put`, or `host.storage`. */
  denialOf(capability: string): OpenwopError | undefined {
    const routes = [...this.#routes.paths.values()]
      .flat()
      .filter((route) => [route.capability, `host.${route.path}`].some((name) => isPartOf(name, capability)));
    const surfaces = new Set(routes.map(({ surface }) => surface));
    if (surfaces.size === 0 || [...surfaces].some((surface) => this.#allows(surface))) return undefined;
    return notAllowed(this.#facts, [...surfaces], capability);
  }

  /** The surfaces that the manifest names, and the granted ones; without grants, all if it names none. */
  #allows(surface: ImplementedSurface): boolean {
    if (this.#declared.has(surface)) return true;
    if (surface.literal.onlyNamed) return false;
    return this.#granted?.has(surface) ?? !isHeldToNamed(this.#facts.peers);
  }

  #assertAllowed(route: Route, writes: boolean): void {
    if (!this.#allows(route.surface)) throw notAllowed(this.#facts, [route.surface], route.capability);
    if (writes && this.#facts.effect === 'pure')
      throw notPure(this.#facts, { ...route, what: route.method.effect });
  }

  #beginAnew(dispatch: number): void {
    this.#dispatch = dispatch;
    this.#writes.clear();
    this.#reads = new SeenReads(this.#journal, this.#facts);
  }

  /** See I2. */
  #number({ surface, method: { tool } }: Route, input: DataObject, call: ReadCall): NumberedWrite {
    const { ordinalBase, attempt } = this.#facts;
    const journal = surface.journalOf(input, call);
    const unsafe = `${surface.literal.capability}.${journal}`;
    const isSafe = tool?.isSafe(input) ?? false;
    const series = isSafe ? `${unsafe}.safe` : unsafe;
    const number = this.#writes.get(series) ?? 0;
    if (number === WRITES_MAX) throw tooManyWrites(surface.literal.capability);
    this.#writes.set(series, number + 1);
    const next = ordinalBase + (this.#writes.get(unsafe) ?? 0);
    const called = tool && { literal: tool, isSafe, attempt, unsafe, next };
    const ordinal = ordinalBase + number;
    return { journal, series, ordinal, seen: this.#reads.keep(), ...(called && { tool: called }) };
  }

  async #answer(admitted: Admitted, io: CallIo): Promise<Data | undefined> {
    const { route, sent, call } = admitted;
    const spell = (value: Data): Data =>
      route.gives && isObject(value) ? through(route.gives, value, { input: sent, now: call.now }) : value;
    if (route.method.kind === 'stream') {
      const items = route.surface.act(route.name, admitted.input, call) as AsyncIterable<unknown>;
      for await (const item of items) await io.send(spell(route.checkOutput(item)));
      return undefined;
    }
    return spell(route.checkOutput(await this.#perform(admitted)));
  }

  async #perform({ route, input, call, write }: Admitted): Promise<unknown> {
    const read = (): unknown => route.surface.act(route.name, input, call);
    if (write === null && (this.#facts.effect === 'pure' || route.method.unrecorded)) return read();
    const target = route.method.tool ? ` ${route.method.tool.target(input)}` : '';
    const method = `${route.surface.literal.capability}.${route.name}${target}`;
    const fingerprint = fingerprintOf(method, input);
    if (write === null) return this.#reads.answer(fingerprint, read);
    await write.seen;
    const { journal, series, ordinal } = write;
    const { tenant, runId, nodeId } = this.#facts;
    const position = { tenant, runId, nodeId, ordinal };
    const invocationOf = (tried: number): NumberedCall => ({
      ...position,
      method,
      fingerprint,
      id: invocationId({ ...position, providerKey: providerKeyOf(series, tried) }),
      journalKey: journalKeyOf(position, series),
    });
    const act: HostCall['act'] = (invocation, decided) =>
      route.surface.act(route.name, input, { ...call, invocation, ...(decided && { decided }) });
    if (journal === 'own') {
      const invocation = numbered(invocationOf(0), this.#deps.answerKeys);
      expectOneWrite(invocation);
      const answer = await act(invocation);
      if (recallOf(invocation)) warnOfOtherInput(this.#journal, invocation);
      else this.#journal.recorded?.();
      return answer;
    }
    const idempotent = write.tool?.isSafe ?? route.method.idempotent === true;
    const tool = write.tool && { tool: write.tool };
    return journaled(this.#journal, { series, input, invocationOf, act, idempotent, ...tool });
  }
}

const tooManyWrites = (capability: string): OpenwopError =>
  invalid(
    `A node can write to ${capability} ${WRITES_MAX.toLocaleString('en-GB')} times. Write more in one call, or spread the work over several nodes.`,
  );

const serverOf = (error: unknown): Pick<CallReport, 'server' | 'reason'> =>
  error instanceof ServerError ? { server: stateOf(error.trouble), reason: error.message } : {};
