/** Exports artifacts as documents. Text is escaped in HTML, so the content cannot run scripts. */
import { type Html, html } from '@gantry/http';
import { type ArtifactFormat, isObject, type Json } from '@gantry/protocol';
import { page } from '../page.ts';

export const MEDIA_TYPES: Readonly<Record<ArtifactFormat, string>> = {
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

export function exportArtifact(format: ArtifactFormat, title: string, content: Json): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(content, null, 2)}\n`;
    case 'md':
      return `# ${oneLine(title)}\n\n${markdown(content, 2)}\n`;
    case 'html':
      return page(title, markup(content));
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const HEADINGS_MAX = 6;

/** Text is treated as Markdown, members become sections, lists stay lists. */
function markdown(value: Json, level: number): string {
  if (Array.isArray(value)) return value.map((item) => bullet(item, level)).join('\n');
  if (!isObject(value)) return scalar(value);
  return Object.entries(value)
    .map(([name, member]) => section(oneLine(name), member, level))
    .join('\n\n');
}

function section(name: string, member: Json, level: number): string {
  if (isObject(member) || Array.isArray(member) || scalar(member).includes('\n'))
    return `${'#'.repeat(Math.min(level, HEADINGS_MAX))} ${name}\n\n${markdown(member, level + 1)}`;
  return `**${name}:** ${scalar(member)}`;
}

const bullet = (item: Json, level: number): string =>
  `- ${markdown(item, level + 1).replaceAll('\n', '\n  ')}`;

const scalar = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function markup(value: Json): Html {
  if (Array.isArray(value)) return html`<ul>${value.map((item) => html`<li>${markup(item)}</li>`)}</ul>`;
  if (!isObject(value)) return html`<div class="text">${scalar(value)}</div>`;
  const members = Object.entries(value).map(
    ([name, member]) => html`<dt>${name}</dt><dd>${markup(member)}</dd>`,
  );
  return html`<dl>${members}</dl>`;
}
