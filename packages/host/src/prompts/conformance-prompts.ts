/** The prompts that the public conformance suite requests by name. Served only with its seams. */
import type { PromptTemplate } from '@gantry/packs';

const prompt = (
  name: string,
  kind: PromptTemplate['kind'],
  text: string,
  variables: NonNullable<PromptTemplate['variables']> = [],
): PromptTemplate => ({
  templateId: `conformance.prompt.${name}`,
  version: '1.0.0',
  kind,
  text,
  variables,
  meta: { source: 'host' },
});

export const CONFORMANCE_PROMPTS: readonly PromptTemplate[] = [
  prompt('writer-system', 'system', 'You write short, plain sentences.'),
  prompt('writer-user', 'user', 'Write one sentence about bridges.'),
  prompt('schema-hint', 'schema-hint', 'Answer with an object that has the member "text".'),
  prompt('few-shot', 'few-shot', 'Q: a river\nA: {"text":"A river runs."}'),
  prompt('few-shot-2', 'few-shot', 'Q: a road\nA: {"text":"A road leads."}'),
  prompt('secret-redaction', 'user', 'Use the key {{apiKey}}.', [
    { name: 'apiKey', type: 'string', required: true, source: 'secret' },
  ]),
  prompt('trust-marker', 'user', 'Summarize: {{userPayload}}', [
    { name: 'userPayload', type: 'string', required: true },
  ]),
];
