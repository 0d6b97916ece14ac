import Type from 'typebox';

/** What a key may do. No scope implies another. */
export const SCOPES = [
  'manifest:read',
  'workflows:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'runs:annotate',
  'artifacts:read',
  'approvals:respond',
  'webhooks:manage',
  'audit:read',
  'keys:manage',
  'packs:read',
  'packs:publish',
  'packs:yank',
  'packs:yank-revert',
  'workspace:read',
  'workspace:write',
  'prompts:read',
  'prompts:write',
  'content:read',
  'content:write',
  'deploy:promote',
  'deploy:rollback',
  'deploy:pause',
] as const;
export const Scope = Type.Enum([...SCOPES]);
export type Scope = (typeof SCOPES)[number];

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);
