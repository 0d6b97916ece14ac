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
  given,
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

/** `read` changes nothing; `write` changes data of the host; `effect` has external effects. */
export type Effect = 'read' | 'write' | 'effect';

export interface MethodLiteral {
  readonly effect: Effect;
  readonly summary: string;
  readonly input: TSchema;
  /** The schema of the answer; for a stream, of each item. */
  readonly output: TSchema;
  /**
   * Absent: one answer. A stream is an async iterable in pack code, and can only read. A response is a
   * `Response`. With `numbers`, vectors arrive packed (`packed-numbers.ts`).
   */
  readonly kind?: 'stream' | 'response' | 'numbers';
  /** Makes the method a tool: each call emits a pair of events. Only with `journal: 'host'`. */
  readonly tool?: ToolLiteral;
  /** One of the surface's `options`; the method is absent without it. */
  readonly needs?: string;
  /** For `journal: 'host'`: the receiver ignores a second call with the same invocation id. */
  readonly idempotent?: boolean;
  /** For reads: the answer is never recorded, so a node that runs again gets a current one. */
  readonly unrecorded?: true;
  /** The call may wait long for external services; that time is not counted against the pack. */
  readonly slow?: true;
  /** Members of the input that pack code passes as arguments, in this order: `moveTask(id, column)`. */
  readonly positional?: readonly string[];
}

export interface ToolLiteral {
  /** The name in events. */
  readonly name: string;
  readonly transport: 'http' | 'mcp' | 'native';
  /** Scopes that the principal of the run must have. */
  readonly requiredScopes?: readonly string[];
  /** What the method is called on. A repeat must have the same target. Contains no values. */
  target(input: DataObject): string;
  /** The call changes nothing, so it is repeated when its outcome is unknown. */
  isSafe(input: DataObject): boolean;
  /** Whether a later attempt of the node may get another answer. Always true for safe calls. */
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
  /** Members that the option adds to the discovery entry. */
  readonly advertises: JsonObject;
}

/** Who records a call for a repeat: the backend (`own`), in the transaction of the write, or the host around it. */
export type Journal = 'own' | 'host';

export interface SurfaceLiteral extends Pick<SurfaceName, 'capability' | 'path' | 'aliases' | 'onlyNamed'> {
  readonly spellings?: readonly Spelling[];
  readonly summary: string;
  /** `backend`: the implementation decides per call. `change`: writes are changes of resources (`change-call.ts`). */
  readonly journal: Journal | 'backend' | 'change';
  /** A primitive of the sandbox, which checks the grant. Not offered in `ctx`; pure nodes may use it too. */
  readonly primitive?: true;
  /** The offer depends on the tenant, and is unknown when surfaces open: the host advertises it itself. */
  readonly advertised?: 'elsewhere';
  /** People may also call it by requests; only with `journal: 'change'`. */
  readonly people?: true;
  /** Pack code may pass secrets to this surface, and to no other. */
  readonly consumesSecrets?: true;
  readonly limits: Readonly<Record<string, number>>;
  readonly exceeded?: Readonly<Record<string, ErrorCode>>;
  readonly options?: Readonly<Record<string, SurfaceOption>>;
  /** The parts of the advertisement that satisfy a peer dependency. Default: its flags. */
  readonly satisfies?: (advertisement: JsonObject) => readonly string[];
  /** Error codes apart from `host_capability_missing` and `validation_error`; their texts are in the catalogue. */
  readonly errors: readonly ErrorCode[];
  /** Opens the surface, for those in the catalogue. */
  readonly opens?: OpenSurface;
  readonly methods: Readonly<Record<string, MethodLiteral>>;
}

/**
 * A literal as written in code. `SURFACE_NAMES` has the path and aliases of capabilities that packs, CLI and
 * registry know without their literal.
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
  const { onlyNamed } = known ?? {};
  return { ...draft, path, aliases, ...given({ onlyNamed }), spellings: spellings.map(absolute) };
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

/** One function per method; a missing or misspelt one does not compile. */
export type Implementation<L extends Called> = {
  readonly [Name in keyof L['methods']]: (
    input: Static<L['methods'][Name]['input']>,
    call: CallOf<L, L['methods'][Name]>,
  ) => AnswerOf<L['methods'][Name]>;
};

export type JournalOf = (input: DataObject, call: Pick<ReadCall, 'tenant'>) => Journal;

export interface Offer<L extends SurfaceDraft> {
  /** Options that this backend does not support; their methods are absent. */
  readonly lacks?: readonly (keyof L['options'] & string)[];
  /** Facts that only a running host knows, such as data sources. */
  readonly advertises?: JsonObject;
  /** For `journal: 'backend'`. */
  readonly journalOf?: JournalOf;
}

type Offered<L extends SurfaceDraft> = L['journal'] extends 'backend'
  ? [offer: Offer<L> & { readonly journalOf: JournalOf }]
  : [offer?: Omit<Offer<L>, 'journalOf'>];

/** The path in `ctx`. Members of a surface without a path are at its root. */
export const pathOf = ({ path }: Pick<SurfaceLiteral, 'path'>, method: string): string =>
  path === '' ? method : `${path}.${method}`;

/** A surface as the gate sees it. Inputs have already been checked against the literal. */
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
