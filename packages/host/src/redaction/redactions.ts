/** What this process has opened, by tenant: a tenant's text is redacted by its own values alone, or it could guess those of others. */
import { EMPTY_REDACTOR, isRedactable, type Redactor } from '@gantry/protocol/redaction';
import { ValueSet } from './value-set.ts';

export interface Redactions {
  /** For everything that the tenant reads. Ask for it anew each time: it changes with each new value. */
  of(tenant: string): Redactor;
  /** For what the operator reads: values of all tenants, and those of the host itself. */
  readonly all: Redactor;
  /** The value is about to be used by the host. The label takes its place in text: the id of the secret. */
  note(tenant: string, value: string, label: string): void;
  /** The value is about to be given to pack code. False: it must not be, since it could not be redacted. */
  keep(tenant: string, value: string, label: string): boolean;
  /** The value of a secret that no run carries any longer. */
  forget(tenant: string, value: string): void;
  /** A secret of the host itself. */
  noteOwn(value: string, label: string): void;
  /** Before a run of the tenant is worked on. Undefined when everything is known that pack code was given in it. */
  ready(tenant: string): Promise<void> | undefined;
  /** How `ready` finds out. */
  readyBy(known: Redactions['ready']): void;
}

export function createRedactions(): Redactions {
  const tenants = new Map<string, ValueSet>();
  const everything = new ValueSet();
  let known: Redactions['ready'] = () => undefined;
  const setOf = (tenant: string): ValueSet => {
    const set = tenants.get(tenant) ?? new ValueSet();
    tenants.set(tenant, set);
    return set;
  };
  return {
    of: (tenant) => tenants.get(tenant)?.redactor ?? EMPTY_REDACTOR,
    get all() {
      return everything.redactor;
    },
    note(tenant, value, label) {
      if (!isRedactable(value)) return;
      setOf(tenant).add({ value, label });
      everything.add({ value, label });
    },
    keep(tenant, value, label) {
      if (!isRedactable(value) || !setOf(tenant).keep({ value, label })) return false;
      everything.add({ value, label });
      return true;
    },
    forget: (tenant, value) => tenants.get(tenant)?.forget(value),
    noteOwn: (value, label) => everything.add({ value, label }),
    ready: (tenant) => known(tenant),
    readyBy: (by) => {
      known = by;
    },
  };
}
