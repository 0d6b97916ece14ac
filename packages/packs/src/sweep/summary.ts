import type { SweepRow } from './sweep.ts';

export interface SweepSummary {
  readonly versions: number;
  readonly verified: number;
  readonly installable: number;
  readonly refused: number;
  readonly yanked: number;
  readonly broken: number;
  /** Different typeIds of versions that are not yanked. */
  readonly nodeTypes: number;
  readonly loaded: number;
  readonly ran: number;
  readonly failed: number;
  /** Everything is verified, and installable or refused for a reason of its own. */
  readonly isSound: boolean;
}

export function summarize(rows: readonly SweepRow[]): SweepSummary {
  const versions = rows.filter(({ typeId }) => typeId === undefined);
  const types = rows.filter(({ typeId, install }) => typeId !== undefined && install.state !== 'yanked');
  const count = (state: SweepRow['install']['state']): number =>
    versions.filter(({ install }) => install.state === state).length;
  const verified = versions.filter(({ verified: { passed } }) => passed).length;
  const inState = (...states: string[]): number =>
    types.filter(({ nodeType }) => nodeType && states.includes(nodeType.state)).length;
  const broken = count('broken');
  const failed = inState('failed');
  return {
    versions: versions.length,
    verified,
    installable: count('installable'),
    refused: count('refused'),
    yanked: count('yanked'),
    broken,
    nodeTypes: new Set(types.map(({ typeId }) => typeId)).size,
    loaded: inState('loaded', 'ran'),
    ran: inState('ran'),
    failed,
    isSound: broken === 0 && failed === 0 && verified === versions.length,
  };
}
