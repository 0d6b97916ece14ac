/** Changes to a published version. */
import { given, type JsonObject } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { print } from '../../output.ts';
import { printable } from '../../style.ts';
import { askRegistry } from './request.ts';

const PACK = /^([^@\s]+)@([^@\s]+)$/;

function versionPath(word: string): string {
  const [, name, version] = PACK.exec(word) ?? [];
  if (name === undefined || version === undefined)
    throw new UsageError(`"${word}" does not name a version. Write it as vendor.acme.greeter@1.0.0`);
  return `/v1/packs/${encodeURIComponent(name)}/-/${encodeURIComponent(version)}`;
}

function reasonOf({ args }: Call): string {
  const reason = args.text('reason');
  if (reason) return reason;
  throw new UsageError('Give a reason with --reason TEXT; users of the version see it.');
}

interface Change {
  readonly takes: string;
  readonly method: 'POST' | 'DELETE';
  readonly path: '' | '/yank' | '/deprecate';
  readonly body?: (call: Call) => JsonObject;
  readonly done: string;
}

const changing = ({ takes, method, path, body, done }: Change): Action => ({
  takes,
  async act(call, word = '') {
    const answer = await askRegistry<JsonObject>(call, {
      method,
      path: versionPath(word) + path,
      ...(body !== undefined && { body: body(call) }),
    });
    print(call, answer, `${printable(word)} ${done}\n`);
  },
});

export const yank = changing({
  takes: '<pack> --reason TEXT [--advisory URL]',
  method: 'POST',
  path: '/yank',
  body: (call) => ({ reason: reasonOf(call), ...given({ advisoryUrl: call.args.text('advisory') }) }),
  done: 'is yanked: ranges no longer select it, exact pins still do.',
});

export const unyank = changing({
  takes: '<pack>',
  method: 'DELETE',
  path: '/yank',
  done: 'is no longer yanked.',
});

export const deprecate = changing({
  takes: '<pack> --reason TEXT [--superseded-by PACK]',
  method: 'POST',
  path: '/deprecate',
  body: (call) => ({ reason: reasonOf(call), ...given({ supersededBy: call.args.text('superseded-by') }) }),
  done: 'is deprecated: it stays usable, with a warning.',
});

export const undeprecate = changing({
  takes: '<pack>',
  method: 'DELETE',
  path: '/deprecate',
  done: 'is no longer deprecated.',
});

export const unpublish = changing({
  takes: '<pack>',
  method: 'DELETE',
  path: '',
  done: 'is unpublished. It can be published again only with the same bytes.',
});
