/**
 * A host capability as a literal. Types of its implementation, validation, discovery, the peer gate and the docs
 * page all come from it.
 *
 * @example
 * export const clock = defineSurface({
 *   capability: 'clock', path: 'clock', aliases: [], summary: 'Tells the time.', journal: 'own', limits: {}, errors: [],
 *   methods: { now: { effect: 'read', summary: 'The time.', input: Type.Object({}), output: Type.Number() } },
 * });
 * const implemented = clock.implement({ now: async (_input, { now }) => now });
 */
import {
  type ErrorCode,
  type JsonObject,
  OpenwopError,
  SURFACE_NAMES,
  type SurfaceName,
} from '@gantry/protocol';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { OpenSurface } from '../open-port.ts';
import type { CallAnswer } from './call-journal.ts';
import type { DataObject } from './data.ts';
import type { OwnSpelling, Spelling } from './spelling.ts';
import type { ChangeCall, ReadCall, WriteCall } from './surface-call.ts';

/** `read` changes nothing; `write` changes what the host keeps; `effect` reaches the world. */
export type Effect = 'read' | 'write' | 'effect';

export interface MethodLiteral {
  readonly effect: Effect;
  readonly summary: string;
  readonly input: TSchema;
  /** Of the answer; of each item when the method is a stream. */
  readonly output: TSchema;
  /**
   * Absent: one answer. A stream is an async iterable in pack code, and can only read; a response is a `Response`. With
   * `numbers`, vectors arrive packed (`packed-numbers.ts`).
   */
  readonly kind?: 'stream' | 'response' | 'numbers';
  /** With it the method is a tool: a pair of events tells of every call. Only with `journal: 'host'`. */
  readonly tool?: ToolLiteral;
  /** The name of one of the surface's `options`, without which the method is absent. */
  readonly needs?: string;
  /** For `journal: 'host'`: the receiver ignores a second call with the same invocation id. */
  readonly idempotent?: boolean;
  /** For reads: the answer is put on record nowhere, so a node that runs again gets a current one. */
  readonly unrecorded?: true;
  /** Others take long to answer it: that time is not counted against the pack. */
  readonly slow?: true;
  /** Members of the input that pack code gives as arguments, in this order: `moveTask(id, column)`. */
  readonly positional?: readonly string[];
}

export interface ToolLiteral {
  /** As events name it. */
  readonly name: string;
  readonly transport: 'http' | 'mcp' | 'native';
  /** Scopes that the principal of the run must have. */
  readonly requiredScopes?: readonly string[];
  /** What is called where, beside the method: a repeat has to be of the same. No values. */
  target(input: DataObject): string;
  /** Changes nothing: it is repeated when nobody knows how it ended. */
  isSafe(input: DataObject): boolean;
  /** Whether a later attempt of the node may get another answer. Safe calls always may. */
  mayPass(answer: CallAnswer): boolean;
}

type Beside = Omit<MethodLiteral, 'effect' | 'summary' | 'input' | 'output'>;

const methodOf =
  <E extends Effect>(effect: E) =>
  <I extends TProperties, O extends TProperties, const B extends Beside = Record<never, never>>(
    summary: string,
    input: I,
    output: O,
    beside?: B,
  ) => {
    const method = { effect, summary, input: Type.Object(input), output: Type.Object(output) };
    return { ...method, ...beside } as typeof method & B;
  };

export const [reads, writes, acts] = [methodOf('read'), methodOf('write'), methodOf('effect')];

export interface SurfaceOption {
  readonly summary: string;
  /** What the discovery entry gains when the option is offered. */
  readonly advertises: JsonObject;
}

/** What records a call for a repeat: the backend in the transaction of the write, or the host around it. */
export type Journal = 'own' | 'host';

export interface SurfaceLiteral extends Pick<SurfaceName, 'capability' | 'path' | 'aliases'> {
  readonly spellings?: readonly Spelling[];
  readonly summary: string;
  /** `backend`: said per call by the implementation. `change`: writes are changes of resources (`change-call.ts`). */
  readonly journal: Journal | 'backend' | 'change';
  /** Only packs whose manifest names it may call it; a grant is not enough. */
  readonly onlyDeclared?: true;
  /** A primitive of the sandbox, which has checked that it is granted: not offered in `ctx`, and pure nodes have it too. */
  readonly primitive?: true;
  /** What is offered to which tenant is not known when surfaces open: the host advertises it itself. */
  readonly advertised?: 'elsewhere';
  /** People may call it by requests too; only with `journal: 'change'`. */
  readonly people?: true;
  /** What secrets are for: pack code may pass them here, and nowhere else. */
  readonly consumesSecrets?: true;
  readonly limits: Readonly<Record<string, number>>;
  readonly exceeded?: Readonly<Record<string, ErrorCode>>;
  readonly options?: Readonly<Record<string, SurfaceOption>>;
  /** Own rule for which parts of the advertisement satisfy a peer dependency. Default: its flags. */
  readonly satisfies?: (advertisement: JsonObject) => readonly string[];
  /** Failure codes beside `host_capability_missing` and `validation_error`; the catalogue has their texts. */
  readonly errors: readonly ErrorCode[];
  /** How a host opens it, for those in the catalogue. */
  readonly opens?: OpenSurface;
  readonly methods: Readonly<Record<string, MethodLiteral>>;
}

/**
 * A literal as it is written. Path and aliases of a capability that packs, CLI and registry know without its literal are
 * in `SURFACE_NAMES`.
 */
export interface SurfaceDraft
  extends Omit<SurfaceLiteral, 'path' | 'aliases' | 'spellings'>,
    Partial<Pick<SurfaceLiteral, 'path' | 'aliases'>> {
  readonly spellings?: readonly OwnSpelling[];
}

function literalOf<const D extends SurfaceDraft>(draft: D): SurfaceLiteral & Omit<D, 'spellings'> {
  const known = SURFACE_NAMES.find(({ capability }) => capability === draft.capability);
  const { path = known?.path ?? '', aliases = known?.aliases ?? [], spellings = [] } = draft;
  const absolute = ({ call, to = call, ...rest }: OwnSpelling): Spelling => ({
    path: call.startsWith(ROOT) ? call.slice(ROOT.length) : pathOf({ path }, call),
    to: `${draft.capability}.${to}`,
    ...rest,
  });
  return { ...draft, path, aliases, spellings: spellings.map(absolute) };
}

const ROOT = 'ctx.';

type Called = Pick<SurfaceLiteral, 'journal' | 'methods'>;
type CallOf<L extends Called, M extends MethodLiteral> = M['effect'] extends 'read'
  ? ReadCall
  : L['journal'] extends 'change'
    ? ChangeCall
    : WriteCall;
type AnswerOf<M extends MethodLiteral> = M['kind'] extends 'stream'
  ? AsyncIterable<Static<M['output']>>
  : Promise<Static<M['output']>>;

/** One function for each method; a missing or misspelt one does not compile. */
export type Implementation<L extends Called> = {
  readonly [Name in keyof L['methods']]: (
    input: Static<L['methods'][Name]['input']>,
    call: CallOf<L, L['methods'][Name]>,
  ) => AnswerOf<L['methods'][Name]>;
};

export type JournalOf = (input: DataObject, call: Pick<ReadCall, 'tenant'>) => Journal;

export interface Offer<L extends SurfaceDraft> {
  /** Options that this backend does not have; their methods are absent. */
  readonly lacks?: readonly (keyof L['options'] & string)[];
  /** What only a running host knows, such as data sources. */
  readonly advertises?: JsonObject;
  /** For `journal: 'backend'`. */
  readonly journalOf?: JournalOf;
}

type Offered<L extends SurfaceDraft> = L['journal'] extends 'backend'
  ? [offer: Offer<L> & { readonly journalOf: JournalOf }]
  : [offer?: Omit<Offer<L>, 'journalOf'>];

/** In `ctx`. Members of a surface without a path are at its root. */
export const pathOf = ({ path }: Pick<SurfaceLiteral, 'path'>, method: string): string =>
  path === '' ? method : `${path}.${method}`;

/** What the gate sees of any surface: inputs were checked against the literal before they get here. */
export interface ImplementedSurface {
  readonly literal: SurfaceLiteral;
  readonly lacks: readonly string[];
  readonly advertises: JsonObject;
  readonly journalOf: JournalOf;
  act(
    method: string,
    input: unknown,
    call: ReadCall & Partial<Pick<WriteCall, 'invocation' | 'decided'>>,
  ): unknown;
}

export interface Surface<D extends SurfaceDraft> {
  readonly literal: SurfaceLiteral & Omit<D, 'spellings'>;
  /** Throws the code of `exceeded`, with the limit in its details. */
  check(limit: keyof D['exceeded'] & string, value: number): void;
  implement(methods: Implementation<D>, ...offered: Offered<D>): ImplementedSurface;
}

export function defineSurface<const D extends SurfaceDraft>(draft: D): Surface<D> {
  const literal = literalOf(draft);
  return {
    literal,
    check(limit, value) {
      const max = literal.limits[limit] ?? Number.POSITIVE_INFINITY;
      if (value > max) throw new OpenwopError(literal.exceeded![limit]!, { details: { [limit]: max } });
    },
    implement(methods, ...[offer = {}]: [Offer<D>?]) {
      const { lacks = [], advertises = {} } = offer;
      return {
        literal,
        lacks,
        journalOf: journalOf(literal, offer),
        advertises: {
          supported: true,
          ...literal.limits,
          ...optionsOf(literal, lacks),
          ...advertises,
        },
        act: (method, input, call) => {
          const run: unknown = methods[method];
          if (typeof run !== 'function') throw new Error(`${literal.capability} has no method ${method}`);
          return run(input, call);
        },
      };
    },
  };
}

function journalOf(
  { capability, journal }: SurfaceLiteral,
  offer: Pick<Offer<SurfaceDraft>, 'journalOf'>,
): JournalOf {
  if (journal === 'change') return () => 'own';
  if (journal !== 'backend') return () => journal;
  if (offer.journalOf) return offer.journalOf;
  throw new Error(`${capability} was implemented without journalOf`);
}

function optionsOf({ options = {} }: SurfaceLiteral, lacks: readonly string[]): JsonObject {
  const offered = Object.entries(options).filter(([name]) => !lacks.includes(name));
  return Object.assign({}, ...offered.map(([, { advertises }]) => advertises));
}
