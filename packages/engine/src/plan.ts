import type { WorkflowDefinition } from '@gantry/protocol';

/** A definition made ready to run: indexed, ordered, its conditions and expressions compiled. */
export interface Plan {
  readonly definition: WorkflowDefinition;
}
