import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../testing/property-runs.ts';
import { formsOf } from './forms.ts';
import { createRedactor, EMPTY_REDACTOR, type Redactor } from './redactor.ts';

/** Few characters, so that values overlap, contain each other and begin alike. */
const narrow = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é'), minLength: 8, maxLength: 14 });
const wide = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 });
// The mark itself is in the output: a value that looks like one is not what this is about.
const isPlain = (value: string): boolean => !/[[\]REDACTED:\d]/.test(value) && value.trim() === value;
const values = fc.array(fc.oneof(narrow, wide).filter(isPlain), { minLength: 1, maxLength: 6 });

const redactorOf = (secrets: readonly string[]): Redactor =>
  createRedactor(secrets.map((value, index) => ({ value, label: `${index}` })));

/** Forms, beginnings and ends of forms, and other text, in any order. */
const texts = (secrets: readonly string[]): fc.Arbitrary<string> => {
  const form = fc.constantFrom(...secrets.flatMap(formsOf));
  const part = fc
    .tuple(form, fc.nat(), fc.nat())
    .map(([text, from, to]) => text.slice(from % text.length).slice(0, to % text.length));
  return fc
    .array(fc.oneof(form, part, fc.string()), { maxLength: 6 })
    .map((pieces) => pieces.join('').slice(0, 250));
};

const cases = values.chain((secrets) => fc.record({ secrets: fc.constant(secrets), text: texts(secrets) }));

function streamed(redactor: Redactor, chunks: readonly string[]): string {
  const stream = redactor.stream();
  return chunks.map((chunk) => stream.push(chunk)).join('') + stream.end();
}

const withoutMarks = (text: string): string[] => text.split(/\[REDACTED:\d\]/);

test('no form is left, wherever the text is split', () => {
  fc.assert(
    fc.property(cases, fc.array(fc.nat(), { maxLength: 8 }), ({ secrets, text }, cuts) => {
      const redactor = redactorOf(secrets);
      const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
      const chunks = at.slice(1).map((end, index) => text.slice(at[index], end));
      const out = streamed(redactor, chunks);
      assert.equal(out, redactor.redact(text));
      assert.equal(out, streamed(redactor, text.split('')));
      for (const form of secrets.flatMap(formsOf))
        for (const piece of withoutMarks(out)) assert.ok(!piece.includes(form), `${form} is left in ${out}`);
    }),
    { numRuns: propertyRuns(300) },
  );
});

/** The characters that no form covers, by comparing at every place. */
function uncovered(text: string, forms: readonly string[]): number[] {
  const covered = new Set<number>();
  for (const form of forms)
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      for (let index = at; index < at + form.length; index++) covered.add(index);
  return [...Array(text.length).keys()].filter((index) => !covered.has(index));
}

test('what is replaced is what the forms cover, and nothing else', () => {
  fc.assert(
    fc.property(cases, ({ secrets, text }) => {
      const kept = uncovered(text, secrets.flatMap(formsOf));
      const redactor = redactorOf(secrets);
      assert.equal(withoutMarks(redactor.redact(text)).join(''), kept.map((index) => text[index]).join(''));
      assert.equal(redactor.contains(text), kept.length < text.length);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('a stream holds back only what begins a form at that moment', () => {
  fc.assert(
    fc.property(cases, ({ secrets, text }) => {
      const forms = secrets.flatMap(formsOf);
      const stream = redactorOf(secrets).stream();
      let out = '';
      for (const end of Array(Math.min(text.length, 60)).keys()) {
        const read = text.slice(0, end + 1);
        out += stream.push(text[end]!);
        const begins = (start: number): boolean =>
          forms.some((form) => form.length > read.length - start && form.startsWith(read.slice(start)));
        const heldAt = [...Array(read.length).keys()].find(begins) ?? read.length;
        const kept = uncovered(read, forms).filter((index) => index < heldAt);
        assert.equal(withoutMarks(out).join(''), kept.map((index) => read[index]).join(''));
      }
    }),
    { numRuns: 50 },
  );
});

test('finds a value in every encoding and at every alignment', () => {
  const secret = 'pä"ss/w+örd ~{1}\\';
  const { redact } = bound(secret);
  const spelled: Record<string, string> = {
    text: secret,
    'base64, 0': Buffer.from(secret).toString('base64'),
    'base64, 1': Buffer.from(`u${secret}tail`).toString('base64'),
    'base64, 2': Buffer.from(`u:${secret}tail`).toString('base64'),
    base64url: Buffer.from(`user:${secret}`).toString('base64url'),
    hex: Buffer.from(secret).toString('hex'),
    'hex, upper': Buffer.from(secret).toString('hex').toUpperCase(),
    component: encodeURIComponent(secret),
    form: new URLSearchParams({ q: secret }).toString(),
    path: new URL(`http://h/${encodeURIComponent(secret)}`).href,
    JSON: JSON.stringify({ secret }),
    'JSON in JSON': JSON.stringify(JSON.stringify({ secret })),
    'bytes read as Latin-1': Buffer.from(secret).toString('latin1'),
  };
  for (const [name, text] of Object.entries(spelled)) assert.match(redact(text), /\[REDACTED:s\]/, name);
  assert.equal(redact(`a ${secret} b`), 'a [REDACTED:s] b');
});

function bound(value: string): { redact: (text: string) => string } {
  const redactor = createRedactor([{ value, label: 's' }]);
  return { redact: (text) => redactor.redact(text) };
}

test('JSON: members, keys and numbers; what has none is the same value', () => {
  const redactor = createRedactor([
    { value: 'hunter2hunter2', label: 'a' },
    { value: '12345678', label: 'b' },
  ]);
  const clean = { a: [1, 'text', null, { b: true }] };
  assert.equal(redactor.redactJson(clean), clean);
  assert.deepEqual(
    redactor.redactJson({ list: ['x hunter2hunter2 y'], hunter2hunter2: 1, pin: 123456789, small: 7 }),
    { list: ['x [REDACTED:a] y'], '[REDACTED:a]': 1, pin: '[REDACTED:b]9', small: 7 },
  );
});

test('values of fewer than eight characters are not looked for', () => {
  assert.equal(createRedactor([{ value: 'short', label: 's' }]), EMPTY_REDACTOR);
  assert.equal(createRedactor([{ value: '   1234567\n', label: 's' }]), EMPTY_REDACTOR);
});

test('overlapping values are replaced as one, a longer one before those within it', () => {
  const redactor = redactorOf(['abcdefghij', 'cdefghijkl', 'abcdefgh']);
  assert.equal(
    redactor.redact('-abcdefghijkl-abcdefgh-abcdefghabcdefgh'),
    '-[REDACTED:0]-[REDACTED:2]-[REDACTED:2][REDACTED:2]',
  );
});

test('a long text that was cut within a value does not end in a part of it', () => {
  const redactor = redactorOf(['sk-0123456789abcdefghij', 'abcdefghij-and-another']);
  const filler = 'x'.repeat(300);
  for (const value of ['sk-0123456789abcdefghij', Buffer.from('sk-0123456789abcdefghij').toString('base64')])
    for (let length = 8; length < 23; length++)
      assert.equal(redactor.redact(filler + value.slice(0, length)), `${filler}[REDACTED:part]`);
  assert.equal(redactor.redact(`${filler}sk-0123456789abcdefghij-and-ano`), `${filler}[REDACTED:0]`);
  assert.equal(redactor.redact(`${filler}sk-0123`), `${filler}sk-0123`);
  assert.equal(redactor.redact('sk-0123456789abc'), 'sk-0123456789abc', 'a short text was not cut');
});
