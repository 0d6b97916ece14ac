/**
 * The values by which one tenant's text is redacted.
 *
 * I1  A value that pack code received is kept as long as a run may hold it. Their total length is limited;
 *     beyond the limit no value is passed on.
 * I2  A value that was only used at egress may be dropped when newer ones need its space: tokens are renewed
 *     all the time.
 * I3  Adding a value does not rebuild all others: automata of similar size are merged, so each value is
 *     rebuilt about log2(n) times (0.1 ms each time).
 */
import {
  charactersOf,
  createRedactor,
  joinRedactors,
  type Redactor,
  type SecretValue,
} from '@gantry/protocol/redaction';

/** The limit for each kind. A character takes about 150 bytes of memory in all its forms. */
const CHARACTERS_MAX = 262_144;
/** Sets of fewer values are always merged. */
const PART_MIN = 64;

interface Part {
  readonly values: readonly SecretValue[];
  readonly redactor: Redactor;
}

export class ValueSet {
  readonly #kept = new Secrets();
  readonly #opened = new Secrets();
  #parts: readonly Part[] = [];
  #fresh: SecretValue[] = [];
  #redactor = joinRedactors([]);

  /** A new redactor after each new value; redactors returned earlier do not have that value. */
  get redactor(): Redactor {
    if (this.#fresh.length > 0) this.#merge();
    return this.#redactor;
  }

  /** False if the limit is reached. */
  keep(secret: SecretValue): boolean {
    if (this.#kept.has(secret)) return true;
    if (this.#kept.charactersWith(secret) > CHARACTERS_MAX) return false;
    this.#kept.add(secret);
    this.#fresh.push(secret);
    return true;
  }

  /** Call when no run holds the value any longer. */
  forget(value: string): void {
    if (this.#kept.remove(value)) this.#rebuild();
  }

  add(secret: SecretValue): void {
    const isNew = !this.#opened.has(secret) && !this.#kept.has(secret);
    // Also moves a known value to the end, so that it is dropped last.
    this.#opened.add(secret);
    if (isNew) this.#fresh.push(secret);
    if (this.#opened.characters > CHARACTERS_MAX) this.#drop();
  }

  /** Drops half of them at once, since everything is rebuilt. */
  #drop(): void {
    this.#opened.dropTo(CHARACTERS_MAX / 2);
    this.#rebuild();
  }

  #rebuild(): void {
    this.#parts = [];
    this.#redactor = joinRedactors([]);
    this.#fresh = [...this.#kept.values(), ...this.#opened.values()];
  }

  #merge(): void {
    let values: readonly SecretValue[] = this.#fresh;
    const parts = [...this.#parts];
    for (let last = parts.at(-1); last; last = parts.at(-1)) {
      if (last.values.length > Math.max(PART_MIN, values.length)) break;
      values = [...last.values, ...values];
      parts.pop();
    }
    this.#parts = [...parts, { values, redactor: createRedactor(values) }];
    this.#fresh = [];
    this.#redactor = joinRedactors(this.#parts.map(({ redactor }) => redactor));
  }
}

/** Secrets by their values, in the order in which they were added. Several credentials may have the same value. */
class Secrets {
  readonly #secrets = new Map<string, readonly SecretValue[]>();
  characters = 0;

  has({ value, label }: SecretValue): boolean {
    return this.#of(value).some((other) => other.label === label);
  }

  add(secret: SecretValue): void {
    const { value, label } = secret;
    const others = this.#of(value).filter((other) => other.label !== label);
    this.remove(value);
    this.#secrets.set(value, [...others, secret]);
    this.characters += charactersOf(value);
  }

  /** If it is added. */
  charactersWith({ value }: SecretValue): number {
    return this.characters + (this.#secrets.has(value) ? 0 : charactersOf(value));
  }

  dropTo(charactersMax: number): void {
    for (const value of this.#secrets.keys()) {
      if (this.characters <= charactersMax) return;
      this.remove(value);
    }
  }

  values(): SecretValue[] {
    return [...this.#secrets.values()].flat();
  }

  remove(value: string): boolean {
    const isThere = this.#secrets.delete(value);
    if (isThere) this.characters -= charactersOf(value);
    return isThere;
  }

  #of(value: string): readonly SecretValue[] {
    return this.#secrets.get(value) ?? [];
  }
}
