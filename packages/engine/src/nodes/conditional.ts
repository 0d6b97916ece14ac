import { holdsFor } from '../condition.ts';
import { ExpressionError, openMeter } from '../expression.ts';
import { scopeFor } from '../scope.ts';
import { completed, failed, type NodeType } from './node-type.ts';

export const conditional: NodeType = {
  typeId: 'core.conditional',
  outputs: ['result'],
  prepare({ config, condition }) {
    const compiled = condition(config);
    return ({ inputs, run }) => {
      if (!compiled) return failed('expression_failed', 'The condition did not compile.');
      try {
        if (compiled.type !== 'expression')
          return completed({ result: holdsFor(compiled, inputs, openMeter()) });
        const result = compiled.expression.evaluate(scopeFor(compiled.expression, run, { inputs }));
        if (typeof result === 'boolean') return completed({ result });
        return failed('expression_failed', 'The condition must be true or false.');
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        return failed('expression_failed', error.message);
      }
    };
  },
};
