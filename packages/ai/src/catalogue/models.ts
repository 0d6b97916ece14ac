/** Known facts about models, by id. */
import { given } from '@gantry/protocol';
import type { Price } from '../call/estimate.ts';
import type { Modality } from '../model.ts';
import { MODELS } from './models-2026-11.ts';

/** The same in US dollars per million tokens; `each` is per unit. */
export type ListPrice = Price;

export interface KnownModel {
  readonly provider: string;
  readonly id: string;
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  readonly modalities: readonly Modality[];
  /** With the names of `requiredModelCapabilities`. */
  readonly capabilities: readonly string[];
  readonly price?: ListPrice;
}

/** Model versions have a date as suffix. */
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** @example knownModel('anthropic', 'claude-opus-4-5-20251101')?.id // 'claude-opus-4-5' */
export function knownModel(provider: string, id: string): KnownModel | undefined {
  const find = (wanted: string) => MODELS.find((model) => model.provider === provider && model.id === wanted);
  return find(id) ?? (DATED.test(id) ? find(id.replace(DATED, '')) : undefined);
}

export const modelsOf = (provider: string): readonly KnownModel[] =>
  MODELS.filter((model) => model.provider === provider);

const BILLION = 1_000_000_000;
const MILLION = 1_000_000;

/** In whole billionths of a US dollar. */
export function tokenPrice({ input, output, cacheRead, cacheWrite, each: unit }: ListPrice): Price {
  const each = (dollars: number): number => Math.ceil((dollars * BILLION) / MILLION);
  return {
    input: each(input),
    output: each(output),
    ...given({
      cacheRead: cacheRead && each(cacheRead),
      cacheWrite: cacheWrite && each(cacheWrite),
      each: unit && Math.ceil(unit * BILLION),
    }),
  };
}
