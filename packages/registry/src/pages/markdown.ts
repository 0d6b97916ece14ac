/**
 * Markdown of READMEs: headings, paragraphs, lists, tables, code, links. HTML in it is escaped, and other syntax is
 * shown as text. Takes linear time: each character is visited a bounded number of times.
 */
import { type Html, html, link } from './html.ts';

const CHARS_MAX = 64 * 1024;
const LINES_MAX = 2_000;
/** The page itself uses the levels above. */
const HEADING_LEVEL_MIN = 3;

/** Bounded repetitions, so that an unmatched opening character costs a bounded number of steps. */
const INLINE =
  /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|\[([^\]\n]{1,300})\]\(([^)\s]{1,500})\)|<(https?:\/\/[^>\s]{1,500})>/g;

function inline(text: string): Html {
  const parts: (string | Html)[] = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, code, strong, label, address, bare] = found;
    parts.push(text.slice(done, found.index));
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`);
    else if (bare !== undefined) parts.push(link(bare));
    else if (label !== undefined && address !== undefined) parts.push(link(address, codeSpans(label)));
    done = found.index + whole.length;
  }
  parts.push(text.slice(done));
  return html`${parts}`;
}

/** Plain text in which backticks mark code. */
export function codeSpans(text: string): Html {
  const parts = text.split('`');
  // An unmatched backtick is shown as text.
  const pairs = parts.length - (parts.length % 2 === 0 ? 1 : 0);
  const shown = parts
    .slice(0, pairs)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${shown}${pairs < parts.length && `\`${parts[pairs]}`}`;
}

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6}) +(.*?) *#* *$/;
const BULLET = /^ {0,6}[-*+] +(.*)$/;
const NUMBER = /^ {0,6}\d{1,9}[.)] +(.*)$/;
const TABLE_ROW = /^ *\|(.*)\| *$/;
const TABLE_RULE = /^ *\|[ :|-]+\| *$/;

type Block = { readonly kind: 'ul' | 'ol' | 'p' | 'table'; readonly lines: string[] };

export function markdown(source: string): Html {
  const lines = source.slice(0, CHARS_MAX).split(/\r?\n/).slice(0, LINES_MAX);
  const blocks: Html[] = [];
  let open: Block | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push(blockOf(open));
    open = undefined;
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const fence = FENCE.exec(line)?.[1];
    const heading = HEADING.exec(line);
    if (fence !== undefined) {
      close();
      const end = endOfFence(lines, i + 1, fence);
      blocks.push(html`<pre tabindex="0"><code>${lines.slice(i + 1, end).join('\n')}</code></pre>`);
      i = end;
    } else if (heading !== null) {
      close();
      blocks.push(headingOf(heading[1]!.length, heading[2]!));
    } else if (line.trim() === '') close();
    else {
      const [kind, text] = lineOf(line, open);
      if (open?.kind !== kind) close();
      open ??= { kind, lines: [] };
      if (text.isContinued) open.lines.push(`${open.lines.pop() ?? ''} ${text.text}`.trim());
      else open.lines.push(text.text);
    }
  }
  close();
  return html`${blocks}`;
}

function lineOf(
  line: string,
  open: Block | undefined,
): [Block['kind'], { readonly text: string; readonly isContinued: boolean }] {
  const fresh = (text: string) => ({ text, isContinued: false });
  const bullet = BULLET.exec(line)?.[1];
  if (bullet !== undefined) return ['ul', fresh(bullet)];
  const number = NUMBER.exec(line)?.[1];
  if (number !== undefined) return ['ol', fresh(number)];
  if (TABLE_ROW.test(line)) return ['table', fresh(line)];
  const isIndented = line.startsWith('  ') && (open?.kind === 'ul' || open?.kind === 'ol');
  return [isIndented ? open.kind : 'p', { text: line.trim(), isContinued: true }];
}

function endOfFence(lines: readonly string[], from: number, fence: string): number {
  let end = from;
  while (end < lines.length && !lines[end]!.trimStart().startsWith(fence)) end++;
  return end;
}

function headingOf(level: number, text: string): Html {
  if (level + HEADING_LEVEL_MIN - 1 <= 3) return html`<h3>${inline(text)}</h3>`;
  return level + HEADING_LEVEL_MIN - 1 === 4
    ? html`<h4>${inline(text)}</h4>`
    : html`<h5>${inline(text)}</h5>`;
}

function blockOf({ kind, lines }: Block): Html {
  if (kind === 'table') return tableOf(lines);
  if (kind === 'p') return html`<p>${inline(lines.join(' '))}</p>`;
  const items = lines.map((line) => html`<li>${inline(line)}</li>`);
  return kind === 'ul' ? html`<ul>${items}</ul>` : html`<ol>${items}</ol>`;
}

function tableOf(lines: readonly string[]): Html {
  const hasHead = lines[1] !== undefined && TABLE_RULE.test(lines[1]);
  const cellsOf = (line: string): string[] =>
    line
      .trim()
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  const head = hasHead ? cellsOf(lines[0]!) : [];
  const rows = lines.slice(hasHead ? 2 : 0).map(cellsOf);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
${hasHead && html`<thead><tr>${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>`}
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody>
</table></div>`;
}
