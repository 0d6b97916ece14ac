/** Combines several redactors: each processes the output of the previous one. */
import { EMPTY_REDACTOR, type RedactedStream, type Redactor } from './redactor.ts';

export function joinRedactors(redactors: readonly Redactor[]): Redactor {
  const used = redactors.filter(({ isEmpty }) => !isEmpty);
  if (used.length <= 1) return used[0] ?? EMPTY_REDACTOR;
  return {
    isEmpty: false,
    redact: (text) => used.reduce((rest, each) => each.redact(rest), text),
    redactJson: (value) => used.reduce((rest, each) => each.redactJson(rest), value),
    contains: (value) => used.some((each) => each.contains(value)),
    found: (value) => new Set(used.flatMap((each) => [...each.found(value)])),
    stream: () => joinStreams(used.map((each) => each.stream())),
  };
}

function joinStreams(streams: readonly RedactedStream[]): RedactedStream {
  return {
    push: (chunk) => streams.reduce((rest, each) => each.push(rest), chunk),
    end: () => streams.reduce((rest, each) => each.push(rest) + each.end(), ''),
  };
}
