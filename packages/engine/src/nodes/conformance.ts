/** Types that only conformance workflows use. */
import { failed, type NodeType } from './node-type.ts';

export const sideEffect: NodeType = {
  typeId: 'core.conformance.side-effect',
  leavesProcess: true,
  prepare({ config, issue }) {
    const { idempotent, effects } = config;
    if (idempotent !== undefined && typeof idempotent !== 'boolean')
      issue('idempotent', 'idempotent must be true or false');
    if (
      effects !== undefined &&
      !(Number.isInteger(effects) && Number(effects) >= 1 && Number(effects) <= 100)
    )
      issue('effects', 'effects must be a whole number from 1 to 100');
    return () => ({ kind: 'dispatched' });
  },
};

/** Declares a runtime capability that no host provides, and is therefore refused when it is reached. */
export const requiresMissing: NodeType = {
  typeId: 'conformance.requiresMissing',
  prepare: () => () =>
    failed(
      'capability_not_provided',
      'The node requires the capability `conformance.never-provided`, which this host does not provide.',
    ),
};
