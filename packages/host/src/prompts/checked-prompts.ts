/** Validation of prompts beyond their schema. */
import type { PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';

/** The limit in the discovery document. The manifest counts characters, of which one can be four bytes. */
export const TEMPLATE_BYTES_MAX = 65_536;

export function checkedPrompts(prompts: readonly PromptTemplate[]): readonly PromptTemplate[] {
  prompts.forEach(({ templateId, text, variables = [] }, index) => {
    const names = variables.map(({ name }) => name);
    const second = names.findIndex((name, at) => names.indexOf(name) !== at);
    if (second >= 0)
      throw new OpenwopError('prompt_template_invalid', {
        message: `${templateId} declares the variable ${names[second]} twice. Remove one of the two.`,
        details: { path: `/prompts/${index}/variables/${second}` },
      });
    if (Buffer.byteLength(text) > TEMPLATE_BYTES_MAX)
      throw new OpenwopError('prompt_template_invalid', {
        message: `The text of ${templateId} has more than ${TEMPLATE_BYTES_MAX} bytes. Split the prompt.`,
        details: { path: `/prompts/${index}/text` },
      });
  });
  return prompts;
}
