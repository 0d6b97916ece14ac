/** A call of a model, as planned and as recorded. */
import type { Media, ModelFailure, Usage } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import type { ErrorCode, Json, JsonObject } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import type { Account, Amounts, Ceilings } from './ledger.ts';
import type { StoredMedia } from './media-store.ts';
import type { ChosenModel } from './model-source.ts';
import type { Io } from './providers/reach.ts';

/** A working node, and the run that pays. */
export interface CallingNode extends Omit<Account, 'at'> {
  readonly runId: string;
  readonly nodeId: string;
  readonly epoch: number;
  readonly tell: NodeCaller['tell'];
  readonly signal: AbortSignal;
  readonly budget?: CallBudget;
}

/** The amounts that the run may spend. */
export interface CallBudget {
  ceilings(): Promise<Ceilings>;
  /** Events about the amounts that the family has spent, in the commit of the record. */
  consumed(total: Amounts): readonly EmittedEvent[];
}

/** Identifies a call among those of its node. */
export interface CallPlace {
  readonly ordinal: number;
  readonly series: string;
  readonly method: string;
  readonly fingerprint: string;
  /** Emitted in the commit that claims the first try. */
  readonly first?: readonly EmittedEvent[];
}

/** One kind of call, ready to be made. */
export interface PlannedCall extends Pick<ChosenModel, 'provider' | 'model' | 'credentialRef' | 'price'> {
  readonly inputTokens: number;
  /** 0 if the output is not counted in tokens. */
  readonly outputTokens: number;
  /** The minimum to which the output limit may be lowered. */
  readonly outputTokensMin?: number;
  readonly streams: 'merged' | 'each' | null;
  /** The number of units it makes, if the price is per unit. */
  readonly units?: number;
  /** Throws `ModelFailure`, or the reason of the signal. */
  attempt(io: AttemptIo): Promise<Attempted>;
  /** The usage of an attempt that was cut off after all this arrived. */
  usageOf(arrived: string): Usage;
  /** Must not be made twice: if the outcome is unknown, the call is in doubt and is not tried again. */
  readonly once?: true;
  /** Continues a call that was counted: reserves, settles and emits nothing. */
  readonly goesOn?: true;
  /** The code of a failure; by default the code of `nextAfter`. */
  readonly fails?: (failure: ModelFailure) => ErrorCode | undefined;
}

export interface AttemptIo {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** The number of earlier requests to the provider for this call. */
  readonly asked: number;
  readonly outputTokens: number;
  /** More is read when it resolves. */
  text(piece: string): Promise<unknown> | undefined;
  /** What else arrives and is charged: thoughts, arguments of tool calls. */
  other(piece: string): void;
  /** Called when a request goes out. */
  onSend(): void;
  /** The decision about the key of a request: the payload of `egress.decided`. */
  readonly onDecision: NonNullable<Io['onDecision']>;
}

export interface Attempted {
  readonly answer: Json;
  /** Stored with the record. */
  readonly media?: readonly Media[];
  readonly usage: Usage;
  /** The model that answered. */
  readonly model?: string;
  /** As in `output.chunk`. */
  readonly finishReason?: string;
}

export interface RecordedCall {
  readonly method: string;
  readonly fingerprint: string;
  readonly provider: string;
  readonly model: string;
  readonly answer?: Json;
  /** All media that the call made, in the order of the answer. */
  readonly media?: readonly StoredMedia[];
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly details?: JsonObject };
  readonly goesOn?: true;
  /** Cut off: a repeat makes another try. */
  readonly aborted?: true;
  readonly usage: Usage;
  readonly spent: Amounts;
  readonly durationMs: number;
}

/** Not even the smallest request fits into the remaining budget. */
export class BudgetExhausted extends Error {
  readonly about: {
    readonly dimension: keyof Amounts;
    readonly scope: keyof Ceilings;
    readonly limit: number;
    /** Includes the reservations of other calls. */
    readonly spent: number;
    readonly reserved: number;
    /** With the shortest useful answer. */
    readonly needed: number;
  };

  constructor(about: BudgetExhausted['about']) {
    super('The budget is exhausted');
    this.about = about;
  }
}
