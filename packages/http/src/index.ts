export { type Access, type AccessRules, HOST_ADMIN } from './access.ts';
export {
  type AdminKey,
  adminKeyLine,
  adminKeyOf,
  adminKeyWarnings,
  DEFAULT_TENANT,
  ensureAdminKey,
} from './admin-key.ts';
export { bearerSecret, endOf, isLiveKey } from './auth.ts';
export { parseBody } from './body.ts';
export {
  type BrowserSessions,
  foreignPage,
  type SessionId,
  sessionIdOf,
  sessionOf,
  sessionValue,
  setSessionCookie,
} from './browser-session.ts';
export {
  type Api,
  type Caller,
  callerOf,
  credentialOf,
  knownCaller,
  setCaller,
  traceparentOf,
} from './context.ts';
export { FORM_MEDIA, type FormFields, parseForm } from './form.ts';
export type { HeldKeys } from './held-keys.ts';
export { Html, html } from './html.ts';
export { type Answer, Idempotency, RETENTION_SECONDS, type RecordAnswer } from './idempotency.ts';
export type { AuditKey } from './key-audit.ts';
export type { CachedKey, KeyCache } from './key-cache.ts';
export { hashSecret, liveTenant } from './key-secret.ts';
export { ROTATION_GRACE_SECONDS } from './key-service.ts';
export { keyRoutes } from './keys.ts';
export { listen, openWarnings } from './listening.ts';
export { READABLE } from './log-format.ts';
export { drained, runServerProcess, unhandledRejections } from './process.ts';
export { randomBytes } from './random-bytes.ts';
export { CONTENT_ENCODINGS, chooseEncoding, JSON_TYPE, notModified, readPayload } from './reply.ts';
export type { Route, Routes } from './routes.ts';
export { createServer } from './server.ts';
export * as read from './setting-readers.ts';
export { type Environment, type Read, SettingsError } from './setting-readers.ts';
export { givenTexts, readTable, type SettingsOf, setting, usageOf } from './settings.ts';
export { TOKENS } from './tokens.ts';
export { parseTraceparent } from './trace.ts';
export { warn } from './unknown-query.ts';
