import Type from 'typebox';

/** The permissions of a key. No scope implies another. */
export const SCOPES = [
  'manifest:read',
  'workflows:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'runs:delete',
  'runs:annotate',
  'artifacts:read',
  'artifacts:write',
  'approvals:respond',
  'approvals:link',
  'webhooks:manage',
  'audit:read',
  'keys:manage',
  'credentials:manage',
  'packs:read',
  'packs:install',
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

/**
 * Scopes that a host admin gives without having them, and that open no route by themselves: a role or group that gates
 * may require (`role:finance-approver`), and `host:read`.
 */
const ROLE = /^((role|group):[a-z][a-z0-9._-]{0,63}|host:read)$/;
export const RoleScope = Type.String({ pattern: ROLE.source });
export const isRoleScope = (text: string): boolean => ROLE.test(text);

/** Lets a key read what concerns all tenants, on routes for which it also has the scope. */
export const HOST_READ = 'host:read';

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);
