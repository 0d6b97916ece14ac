import type { WorkflowDefinition } from '@gantry/protocol';

/** Marks workflows that the test interface of the public suite registers under an id of its choice. */
export const CONFORMANCE_MARK = 'x-conformance';

/**
 * Only conformance workflows may simulate agents and echo secrets. Their id shows it, or the mark of the test
 * interface.
 */
export const isConformance = ({ id, metadata }: Pick<WorkflowDefinition, 'id' | 'metadata'>): boolean =>
  /^(conformance|openwop-smoke)-/.test(id) ||
  (metadata as Readonly<Record<string, unknown>>)[CONFORMANCE_MARK] === true;
