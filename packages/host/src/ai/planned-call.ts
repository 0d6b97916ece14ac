/** A call of a model, before it is made and on record. */
import type { Media, ModelFailure, Usage } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import type { ErrorCode, Json, JsonObject } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
import type { Account, Amounts, Ceilings } from './ledger.ts';
import type { StoredMedia } from './media-store.ts';
import type { ChosenModel } from './model-source.ts';
import type { Io } from './providers/reach.ts';

/** A node at work, and the run that pays. */
export interface CallingNode extends Omit<Account, 'at'> {
  readonly runId: string;
  readonly nodeId: string;
  readonly epoch: number;
  readonly tell: NodeCaller['tell'];
  readonly signal: AbortSignal;
  readonly budget?: CallBudget;
}

/** What the run may spend. */
export interface CallBudget {
  ceilings(): Promise<Ceilings>;
  /** Events of what the family has spent, in the commit of the record. */
  consumed(total: Amounts): readonly EmittedEvent[];
}

/** Which call of its node it is. */
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
  /** 0 where the output is not counted in tokens. */
  readonly outputTokens: number;
  /** What the output bound may be lowered to. */
  readonly outputTokensMin?: number;
  readonly streams: 'merged' | 'each' | null;
  /** How many pieces it makes, where the price is for each. */
  readonly units?: number;
  /** Throws `ModelFailure`, or the reason of the signal. */
  attempt(io: AttemptIo): Promise<Attempted>;
  /** Of an attempt that was cut off after so much text. */
  usageOf(said: string): Usage;
  /** Must not be made twice: without a known end it is in doubt, and no other try follows. */
  readonly once?: true;
  /** Goes on with a call that was counted: reserves, settles and emits nothing. */
  readonly goesOn?: true;
  /** How a failure is reported; the code of `nextAfter` unless given. */
  readonly fails?: (failure: ModelFailure) => ErrorCode | undefined;
}

export interface AttemptIo {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** How often the provider was asked before for this call. */
  readonly asked: number;
  readonly outputTokens: number;
  text(piece: string): void;
  /** What was decided about the key of a request: the payload of `egress.decided`. */
  readonly onDecision: NonNullable<Io['onDecision']>;
}

export interface Attempted {
  readonly answer: Json;
  /** Stored with the record. */
  readonly media?: readonly Media[];
  readonly usage: Usage;
  /** That answered. */
  readonly model?: string;
  /** In the words of `output.chunk`. */
  readonly finishReason?: string;
}

export interface RecordedCall {
  readonly method: string;
  readonly fingerprint: string;
  readonly provider: string;
  readonly model: string;
  readonly answer?: Json;
  /** All that the call made, in the order of the answer. */
  readonly media?: readonly StoredMedia[];
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly details?: JsonObject };
  readonly goesOn?: true;
  /** Cut off: a repeat makes another try. */
  readonly aborted?: true;
  readonly usage: Usage;
  readonly spent: Amounts;
  readonly durationMs: number;
}

/** Not even the smallest request fits into what is left. */
export class BudgetExhausted extends Error {
  readonly about: {
    readonly dimension: keyof Amounts;
    readonly scope: keyof Ceilings;
    readonly limit: number;
    readonly observed: number;
  };

  constructor(about: BudgetExhausted['about']) {
    super('The budget is exhausted');
    this.about = about;
  }
}
