import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { html, link, packPath } from './html.ts';
import { codeSpans, markdown } from './markdown.ts';

/** What a browser would make of it: our own elements, and nothing else that opens with `<`. */
const OURS =
  /<\/?(h3|h4|h5|p|ul|ol|li|pre|code|strong|a|div|table|thead|tbody|tr|th|td)( [a-z-]+="[^"<>]*")*>/g;
const foreign = (markup: string): string => markup.replaceAll(OURS, '').replaceAll(/[^<>]/g, '');

const hostile = fc.string({
  unit: fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '&',
    '`',
    '*',
    '|',
    '#',
    '-',
    '[',
    ']',
    '(',
    ')',
    ' ',
    '\n',
    'a',
    'javascript:',
    'https://',
    'onload=',
    '<script>',
  ),
  maxLength: 60,
});

test('whatever goes into a template is text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const { markup } = html`<p title="${text}">${text}</p>`;
      assert.doesNotMatch(markup.slice('<p title="'.length, -'</p>'.length).replace('">', ''), /[<>"']/);
    }),
  );
});

test('lists are joined, nothing is nothing, and HTML stays HTML', () => {
  assert.equal(html`${[html`<b>`, 'a', 1]}${false}${null}${undefined}${0}`.markup, '<b>a10');
});

test('only addresses of the web become links', () => {
  assert.match(
    link('https://a.example/x', 'x').markup,
    /^<a href="https:\/\/a\.example\/x" rel="[^"]+">x<\/a>$/,
  );
  for (const address of [
    'javascript:alert(1)',
    ' https://a.example',
    'data:text/html,x',
    '//a.example',
    'https://',
    'http://a b',
  ])
    assert.doesNotMatch(link(address).markup, /<a/, address);
});

test('names in paths are escaped', () => {
  assert.equal(packPath('a/../b', '1.0.0+x'), '/packs/a%2F..%2Fb/1.0.0%2Bx');
});

test('no Markdown makes an element that is not ours, or a link that is not of the web', () => {
  fc.assert(
    fc.property(hostile, (source) => {
      const { markup } = markdown(source);
      assert.equal(foreign(markup), '', markup);
      assert.doesNotMatch(markup, /href="(?!https?:\/\/)/);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('Markdown as people write it', () => {
  const source = [
    '# Title',
    'Some `code` and **weight**,',
    'over two lines. [Docs](https://docs.example/a)',
    '',
    '- one',
    '  and more',
    '- two',
    '',
    '1. first',
    '```js',
    'const a = `<b>`;',
    '```',
    '| a | b |',
    '|---|---|',
    '| 1 | `2` |',
  ].join('\n');
  const { markup } = markdown(source);
  for (const part of [
    '<h3>Title</h3>',
    '<p>Some <code>code</code> and <strong>weight</strong>, over two lines. <a href="https://docs.example/a"',
    '<ul><li>one and more</li><li>two</li></ul>',
    '<ol><li>first</li></ol>',
    '<pre tabindex="0"><code>const a = `&lt;b&gt;`;</code></pre>',
    '<th scope="col">a</th>',
    '<td><code>2</code></td>',
  ])
    assert.ok(markup.includes(part), `${part}\n${markup}`);
});

test('Markdown that opens everything and closes nothing takes no time', () => {
  const begin = performance.now();
  for (const opening of ['[', '`', '**', '[a](', '<https://', '# ', '| ', '- '])
    markdown(opening.repeat(64 * 1024));
  assert.ok(performance.now() - begin < 30_000, `${performance.now() - begin} ms`);
});

test('backticks in plain text mark code, and one alone stands', () => {
  assert.equal(codeSpans('a `b` c').markup, 'a <code>b</code> c');
  assert.equal(codeSpans('it`s <b>').markup, 'it`s &lt;b&gt;');
  assert.equal(codeSpans('`a` `b').markup, '<code>a</code> `b');
});
