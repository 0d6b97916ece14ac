/**
 * The secrets that this process has opened, by tenant. A tenant's text is redacted only by its own values;
 * otherwise the tenant could guess those of others.
 */
import { EMPTY_REDACTOR, isRedactable, type Redactor, type SecretValue } from '@gantry/protocol/redaction';
import type { Write } from '@gantry/store';
import { ValueSet } from './value-set.ts';

export interface Redactions {
  /** For everything that the tenant reads. Do not keep it: it changes with each new value. */
  of(tenant: string): Redactor;
  /** For the operator: values of all tenants, and those of the host. */
  readonly all: Redactor;
  /** Call before the host uses the value. The label, which is the id of the secret, replaces it in text. */
  note(tenant: string, value: string, label: string, version?: number): void;
  /** Call before pack code gets the value. False: it must not be passed, since it could not be redacted. */
  keep(tenant: string, value: string, label: string, version?: number): boolean;
  /** Call when no run holds the value any longer. */
  forget(tenant: string, value: string): void;
  /** A secret of the host. */
  noteOwn(value: string, label: string): void;
  /** Call before working on a run of the tenant. Undefined if all values that pack code received are loaded. */
  ready(tenant: string): Promise<void> | undefined;
  /** The values that pack code received. */
  readonly given: GivenValues;
  givenBy(given: GivenValues): void;
}

export interface GivenValues {
  /** Undefined if all values that pack code received are loaded; those of other processes may be a little late. */
  known(tenant: string): Promise<void> | undefined;
  /** Loads also those that another process has just passed on. */
  allKnown(tenant: string): Promise<void>;
  /**
   * The writes by which runs count as having received secrets: they belong to the commit of the records that contain
   * them. Null if a secret could not be redacted later.
   */
  marking(tenant: string, received: readonly Received[]): Promise<readonly Write[] | null>;
}

export interface Received {
  readonly runId: string;
  readonly secrets: ReadonlySet<SecretValue>;
}

const NONE_GIVEN: GivenValues = {
  known: () => undefined,
  allKnown: async () => {},
  marking: async () => [],
};

export function createRedactions(): Redactions {
  const tenants = new Map<string, ValueSet>();
  const everything = new ValueSet();
  let given = NONE_GIVEN;
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
    note(tenant, value, label, version = 0) {
      if (!isRedactable(value)) return;
      setOf(tenant).add({ value, label, version });
      everything.add({ value, label });
    },
    keep(tenant, value, label, version = 0) {
      if (!isRedactable(value) || !setOf(tenant).keep({ value, label, version })) return false;
      everything.add({ value, label });
      return true;
    },
    forget: (tenant, value) => tenants.get(tenant)?.forget(value),
    noteOwn: (value, label) => everything.add({ value, label }),
    ready: (tenant) => given.known(tenant),
    get given() {
      return given;
    },
    givenBy: (by) => {
      given = by;
    },
  };
}
