/** References to prompts: `prompt:<templateId>[@<version>]`, or an object with further members. */
import { lazyValidator, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';

const NAME = '[a-z0-9][a-z0-9._-]{0,127}';
const VERSION = '\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?';

export const TemplateId = Type.String({ pattern: `^${NAME}$` });
export const TemplateVersion = Type.String({ maxLength: 128, pattern: `^${VERSION}$` });
/** The name of the pack that contains the prompt. */
export const LibraryId = Type.String({ minLength: 1, maxLength: 256, pattern: '^[a-z0-9][A-Za-z0-9._-]*$' });

const PromptRefObject = Type.Object(
  {
    libraryId: Type.Optional(LibraryId),
    templateId: TemplateId,
    version: Type.Optional(TemplateVersion),
    variableOverrides: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type PromptRef = Static<typeof PromptRefObject>;

const object = lazyValidator(PromptRefObject);
const TEXT = new RegExp(`^prompt:(${NAME})(?:@(${VERSION}))?$`);
const TEXT_LENGTH_MAX = 300;

export function readPromptRef(ref: unknown): PromptRef {
  if (typeof ref === 'string' && ref.length <= TEXT_LENGTH_MAX) {
    const [, templateId, version] = TEXT.exec(ref) ?? [];
    if (templateId !== undefined) return { templateId, ...(version !== undefined && { version }) };
  }
  if (object.Check(ref)) return ref;
  throw new OpenwopError('prompt_ref_invalid');
}
