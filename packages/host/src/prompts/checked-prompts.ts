/** What the host demands of prompts beyond their shape. */
import type { PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';

/** As the discovery document says it. The manifest counts characters, of which one can be four bytes. */
export const TEMPLATE_BYTES_MAX = 65_536;

export function checkedPrompts(prompts: readonly PromptTemplate[]): readonly PromptTemplate[] {
  prompts.forEach(({ templateId, text }, index) => {
    if (Buffer.byteLength(text) > TEMPLATE_BYTES_MAX)
      throw new OpenwopError('prompt_template_invalid', {
        message: `The text of ${templateId} has more than ${TEMPLATE_BYTES_MAX} bytes. Split the prompt.`,
        details: { path: `/prompts/${index}/text` },
      });
  });
  return prompts;
}
