/** `ctx.promptLibrary`: prompt texts by name. */
import { defineSurface, type ImplementedSurface, reads } from '../../calls/define-surface.ts';
import { optional, Text, text } from '../../calls/schema.ts';
import { overHost } from '../../open-port.ts';

export interface PromptsPort {
  /** Without `version`, the latest. */
  get(tenant: string, prompt: { readonly id: string; readonly version?: string }): Promise<LibraryPrompt>;
}

export interface LibraryPrompt {
  readonly promptId: string;
  readonly systemPrompt: string;
  readonly version: string;
  readonly envelopeType?: string;
}

export const promptsSurface = defineSurface({
  capability: 'promptLibrary',
  summary:
    'Prompts of the tenant, of installed packs and of the host. Variables are not filled in. A node that runs again and ' +
    'has written in between gets the version that it had.',
  journal: 'own',
  limits: {},
  errors: ['prompt_not_found', 'prompt_version_pinned', 'prompt_ref_ambiguous'],
  opens: overHost('prompts', implementPrompts),
  methods: {
    get: reads(
      'The prompt `id`, `id@version` or `prompt:id@version`; without a version the latest one.',
      { promptId: text(300) },
      { promptId: Text, systemPrompt: Text, version: Text, envelopeType: optional(Text) },
      { positional: ['promptId'] },
    ),
  },
});

function implementPrompts(prompts: PromptsPort): ImplementedSurface {
  return promptsSurface.implement({
    get: ({ promptId }, { tenant }) => prompts.get(tenant, named(promptId)),
  });
}

function named(promptId: string): { id: string; version?: string } {
  const [id = '', version] = promptId.replace(/^prompt:/, '').split('@', 2);
  return version === undefined ? { id } : { id, version };
}
