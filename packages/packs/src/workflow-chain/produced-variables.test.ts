import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chainOf, node, options, parametersOf, refuses } from '../testing/chains.ts';

import { expandChain, expandDeferred } from './expand.ts';

const plan = { name: 'plan', producedBy: 'a', type: 'object', description: 'The plan.' } as const;
const reader = (variableName: string) =>
  node({ id: 'b', inputs: { plan: { type: 'variable', variableName } } });

describe('produced variables', () => {
  test('become variables with a name and a type, and no value', () => {
    const producedVariables = [plan, { ...plan, name: 'count', type: 'integer' as const }];
    const chain = chainOf([node(), reader('plan')], { producedVariables });
    assert.deepEqual(expandChain(chain, {}, options).variables, [
      { name: 'plan', type: 'object' },
      { name: 'count', type: 'number' },
    ]);
  });

  test('are the only variables that a chain reads', () => {
    const chain = chainOf([node(), reader('other')], { producedVariables: [plan] });
    refuses(() => expandChain(chain, {}, options), 'variable_undeclared', { variableName: 'other' });
  });

  test('are looked up under the name that the parameters make', () => {
    const chain = chainOf([node(), reader('{{params.x}}')], {
      producedVariables: [plan],
      parameters: parametersOf('x'),
    });
    expandChain(chain, { x: 'plan' }, options);
    refuses(() => expandChain(chain, { x: 'secret' }, options), 'variable_undeclared', {
      variableName: 'secret',
    });
  });

  test('share no name with a parameter or with each other', () => {
    const clash = chainOf([node()], { producedVariables: [plan], parameters: parametersOf('plan') });
    refuses(() => expandChain(clash, {}, options), 'variable_undeclared', { variableName: 'plan' });
    refuses(() => expandDeferred(clash, {}, options), 'variable_undeclared');
    const twice = chainOf([node()], { producedVariables: [plan, plan] });
    refuses(() => expandChain(twice, {}, options), 'variable_undeclared');
  });

  test('have a producer in the chain', () => {
    const chain = chainOf([node()], { producedVariables: [{ ...plan, producedBy: 'z' }] });
    refuses(() => expandChain(chain, {}, options), 'produced_var_producer_unknown', {
      variableName: 'plan',
      producedBy: 'z',
    });
  });

  test('do not include parameters that are written down', () => {
    const chain = chainOf([reader('x')], { parameters: parametersOf('x') });
    refuses(() => expandChain(chain, { x: 1 }, options), 'variable_undeclared', { variableName: 'x' });
  });
});
