/** What a mirror tells whoever started it. */
import type { MirrorCounts, MirrorSummary, NamedReason } from './mirror.ts';

const MB = 1_000_000;
/** Without a terminal a line is written after so many versions. */
const LINE_EVERY = 50;
const CLEAR_LINE = '\r\u001b[K';

export interface ReportOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;

const megabytes = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;

/** Names and reasons come from outside: nothing of them may steer the terminal. */
const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

const line = ({ done, total, copied, there, updated, bytes }: MirrorCounts): string =>
  `${done} of ${count(total, 'version')}: ${copied} copied (${megabytes(bytes)}), ${there} there already, ${updated} updated`;

/** One line that changes on a terminal, else a line now and then. */
export function progressOn(output: ReportOutput): (counts: MirrorCounts) => void {
  if (output.isTTY) return (counts) => void output.write(`${CLEAR_LINE}${line(counts)}`);
  return (counts) => {
    if (counts.done % LINE_EVERY === 0 || counts.done === counts.total) output.write(`${line(counts)}\n`);
  };
}

const reasons = (heading: string, list: readonly NamedReason[]): string[] =>
  list.length === 0
    ? []
    : [
        heading,
        ...list.map(({ what, code, reason }) =>
          printable(`  ${what}: ${code === undefined ? '' : `${code}: `}${reason}`),
        ),
      ];

export function summaryText(summary: MirrorSummary, isTTY: boolean): string {
  const { refused, leftOut, notTried } = summary;
  const lines = [
    `${count(summary.total, 'version')} of ${count(summary.packs, 'pack')}: ${summary.copied} copied (${megabytes(summary.bytes)}), ` +
      `${summary.there} there already, ${summary.updated} updated, ${leftOut.length} left out, ${refused.length} refused.`,
    `${[
      count(summary.keys, 'key'),
      count(summary.keychains, 'keychain'),
      count(summary.assignments, 'namespace assignment'),
      count(summary.advisories, 'advisory', 'advisories'),
    ].join(', ')}.`,
    ...reasons('Left out:', leftOut),
    ...reasons('Refused:', refused),
    ...(notTried === 0 ? [] : [`${notTried} not tried. Run the same command again to go on.`]),
  ];
  return `${isTTY ? CLEAR_LINE : ''}${lines.join('\n')}\n`;
}

/** A mirror is whole when nothing was refused and everything had its turn. */
export const isWhole = ({ refused, notTried }: MirrorSummary): boolean =>
  refused.length === 0 && notTried === 0;
