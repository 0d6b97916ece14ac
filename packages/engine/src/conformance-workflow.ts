import type { WorkflowDefinition } from '@gantry/protocol';

/** What a seam of the public suite registers under an id of the suite's choice. */
export const CONFORMANCE_MARK = 'x-conformance';

/** Only such workflows may play agents: their id says so, or the seam that registered them. */
export const isConformance = ({ id, metadata }: Pick<WorkflowDefinition, 'id' | 'metadata'>): boolean =>
  id.startsWith('conformance-') || (metadata as Readonly<Record<string, unknown>>)[CONFORMANCE_MARK] === true;
