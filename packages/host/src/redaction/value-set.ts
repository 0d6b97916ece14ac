/**
 * The values that one tenant's text is redacted by.
 *
 * I1  A value that pack code was given stays as long as a run may carry it. There is room for so many characters, and no
 *     more are given out.
 * I2  A value that was only used at egress may be dropped once newer ones need its room: tokens are renewed all the time.
 * I3  Adding values does not cost what is already there: automata of similar size are merged, so each value is built in
 *     again about log2(n) times (0.1 ms each time).
 */
import { createRedactor, joinRedactors, type Redactor, type SecretValue } from '@gantry/protocol/redaction';

/** Of each kind. A character takes about 150 bytes of memory in all its forms. */
const CHARACTERS_MAX = 262_144;
/** Sets of fewer values are always merged. */
const PART_MIN = 64;

interface Part {
  readonly values: readonly SecretValue[];
  readonly redactor: Redactor;
}

export class ValueSet {
  readonly #kept = new Labels();
  readonly #opened = new Labels();
  #parts: readonly Part[] = [];
  #fresh: SecretValue[] = [];
  #redactor = joinRedactors([]);

  /** Another one after each new value; the last one goes on without it. */
  get redactor(): Redactor {
    if (this.#fresh.length > 0) this.#merge();
    return this.#redactor;
  }

  /** False when there is no room left. */
  keep(secret: SecretValue): boolean {
    if (this.#kept.has(secret.value)) return true;
    if (this.#kept.characters + secret.value.length > CHARACTERS_MAX) return false;
    this.#kept.add(secret);
    this.#fresh.push(secret);
    return true;
  }

  /** No run carries it any longer. */
  forget(value: string): void {
    if (this.#kept.remove(value)) this.#rebuild();
  }

  add(secret: SecretValue): void {
    const isNew = !this.#opened.has(secret.value) && !this.#kept.has(secret.value);
    // Also to be the last one to be dropped.
    this.#opened.add(secret);
    if (isNew) this.#fresh.push(secret);
    if (this.#opened.characters > CHARACTERS_MAX) this.#drop();
  }

  /** Half of them at once: everything is built anew. */
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

/** Values with their labels, the one added longest ago first. */
class Labels {
  readonly #labels = new Map<string, string>();
  characters = 0;

  has(value: string): boolean {
    return this.#labels.has(value);
  }

  add({ value, label }: SecretValue): void {
    this.remove(value);
    this.#labels.set(value, label);
    this.characters += value.length;
  }

  dropTo(charactersMax: number): void {
    for (const value of this.#labels.keys()) {
      if (this.characters <= charactersMax) return;
      this.remove(value);
    }
  }

  values(): SecretValue[] {
    return Array.from(this.#labels, ([value, label]) => ({ value, label }));
  }

  remove(value: string): boolean {
    const isThere = this.#labels.delete(value);
    if (isThere) this.characters -= value.length;
    return isThere;
  }
}
