/** What a key must have beyond being valid. */
import { type Caller, liveTenant } from '@gantry/http';
import { OpenwopError, type Scope } from '@gantry/protocol';
import type { CatalogueName } from '../catalogue/catalogue.ts';

/** For routes that look at their address before they look at scopes. */
export function refuseMissingScope({ scopes }: Caller, scope: Scope): void {
  if (!scopes.has(scope)) throw new OpenwopError('forbidden', { details: { scopeRequired: scope } });
}

/** What test keys do, nobody else ever sees. */
export function refuseTestKey(catalogue: CatalogueName, { tenant }: Caller): void {
  if (catalogue === 'packs-test' || liveTenant(tenant) === tenant) return;
  throw new OpenwopError('forbidden', {
    message: 'A test key works only in the test namespace. Use a live key.',
  });
}
