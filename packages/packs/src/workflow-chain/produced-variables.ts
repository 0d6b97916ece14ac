import { OpenwopError, type PortValue, type WorkflowVariable } from '@gantry/protocol';
import type { WorkflowChain } from './chain.ts';
import { parameterProperties } from './parameters.ts';

/** What runs write has a producer, and a name that no parameter has. */
export function checkProducedVariables(chain: WorkflowChain): void {
  const nodeIds = new Set(chain.dag.nodes.map(({ id }) => id));
  const taken = new Set(parameterProperties(chain).keys());
  for (const { name, producedBy } of chain.producedVariables ?? []) {
    if (!nodeIds.has(producedBy))
      throw new OpenwopError('produced_var_producer_unknown', {
        details: { chainId: chain.chainId, variableName: name, producedBy },
      });
    if (taken.has(name)) throw undeclared(chain, name);
    taken.add(name);
  }
}

/** Name and type only: the value comes from the run. The name is the producer's, so it gets no prefix. */
export const producedVariables = (chain: WorkflowChain): WorkflowVariable[] =>
  (chain.producedVariables ?? []).map(({ name, type }) => ({
    name,
    type: type === 'integer' ? 'number' : type,
  }));

/** A closed world: an expansion reads no variable that it does not bring. */
export function checkVariableReads(
  chain: WorkflowChain,
  ports: Iterable<PortValue>,
  variables: readonly WorkflowVariable[],
): void {
  const declared = new Set(variables.map(({ name }) => name));
  for (const port of ports)
    if (port.type === 'variable' && !declared.has(port.variableName))
      throw undeclared(chain, port.variableName);
}

const undeclared = ({ chainId }: WorkflowChain, variableName: string): OpenwopError =>
  new OpenwopError('variable_undeclared', { details: { chainId, variableName } });
