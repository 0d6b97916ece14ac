/** Messages between the main thread and the threads that own the database. No imports: threads start fast. */
import type { NumberedCall } from '../calls/surface-call.ts';
import type { Answer } from '../refusal.ts';

export interface Asked {
  readonly area: string;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Null for reads and for the upkeep of the database itself. */
  readonly invocation: { readonly call: NumberedCall; readonly now: number } | null;
}

export interface Request extends Asked {
  readonly id: number;
}

export type Reply = readonly [id: number, answer: Answer];

export const OPENED = 0;
export const CLOSED = -1;

/** Copies the log into the database and truncates it, once no reader prevents that. */
export const CHECKPOINT = { area: 'log', name: 'checkpoint' } as const;

/** Deletes journal entries of all tenants, or of one run. */
export const FORGET = { area: 'invocations', name: 'forget' } as const;
export const FORGET_RUN = { area: 'invocations', name: 'forgetRun' } as const;

interface Named {
  readonly area: string;
  readonly name: string;
}

export const isAsked = (request: Named, { area, name }: Named): boolean =>
  request.area === area && request.name === name;
