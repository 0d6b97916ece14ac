/** HTML templates that escape every value unless it is already `Html`. */

export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Renderable = Html | string | number | false | null | undefined | readonly Renderable[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that reverse or hide text. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
/** Line breaks, and the two joiners that some scripts need. */
const LAYOUT = new Set(['\n', '\t', '\u200c', '\u200d']);

const plainText = (text: string): string =>
  text.replace(DECEPTIVE, (sign) => (LAYOUT.has(sign) ? sign : sign === '\r' ? '' : '\ufffd'));

const escaped = (text: string): string =>
  plainText(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

function render(value: Renderable): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(render).join('');
  return escaped(String(value));
}

/** Attributes must be written in quotes, which are escaped too. */
export function html(parts: TemplateStringsArray, ...values: readonly Renderable[]): Html {
  let markup = parts[0] ?? '';
  for (const [index, value] of values.entries()) markup += render(value) + (parts[index + 1] ?? '');
  return new Html(markup);
}
