/** Where the project keeps what is made from the literals. */
const ROOT = new URL('../../../../', import.meta.url);

export const CAPABILITY_PAGE = new URL('docs/capabilities.md', ROOT);
/** `gantry pack new` puts it beside the code. */
export const CTX_TYPES = new URL('packages/cli/src/commands/pack/ctx.d.mts', ROOT);
