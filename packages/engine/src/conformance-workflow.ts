import type { WorkflowDefinition } from '@gantry/protocol';

/** What a seam of the public suite registers under an id of the suite's choice. */
export const CONFORMANCE_MARK = 'x-conformance';

/** Only such workflows may play agents and echo secrets: their id says so, or the seam that registered them. */
export const isConformance = ({ id, metadata }: Pick<WorkflowDefinition, 'id' | 'metadata'>): boolean =>
  /^(conformance|openwop-smoke)-/.test(id) ||
  (metadata as Readonly<Record<string, unknown>>)[CONFORMANCE_MARK] === true;
