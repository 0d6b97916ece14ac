/** Messages to runs. A mail is an entry in the store, committed with its cause and deleted with its effect. */
import { type ChildReport, type Command, inheritedTrust, type Run } from '@gantry/engine';
import { isTerminal, type Json, type JsonObject, newId } from '@gantry/protocol';
import type { Entry, RunKey, Write } from '@gantry/store';
import type { Inputs } from './clock.ts';
import type { CommandRecord } from './command-answer.ts';
import type { RunCommand } from './runtime.ts';

export const MAIL = 'mail';

export type Mail =
  | {
      readonly type: 'childEnded';
      readonly nodeId: string;
      readonly visit: number;
      readonly report: ChildReport;
    }
  | { readonly type: 'cancel'; readonly reason: string; readonly parentRunId: string }
  /** The run is no longer paused: reports that were kept meanwhile are due again. */
  | { readonly type: 'collect' }
  /** From another process, which waits for an entry of kind `reply` with this id. */
  | {
      readonly type: 'forwarded';
      readonly command: RunCommand;
      readonly record?: CommandRecord | undefined;
      readonly replyId: string;
    };

export type MailWrite = Extract<Write, { kind: 'putEntry' }>;

export function mailWrite(
  { now, randomBytes }: Pick<Inputs, 'now' | 'randomBytes'>,
  to: RunKey,
  mail: Mail,
): MailWrite {
  const at = now();
  return {
    kind: 'putEntry',
    expectedVersion: null,
    entry: {
      kind: MAIL,
      tenant: to.tenant,
      id: newId('mail', at, randomBytes),
      ref: to.runId,
      dueAt: at,
      expiresAt: null,
      createdAt: at,
      body: JSON.stringify(mail),
    },
  };
}

/** Null: no longer due. A paused run reads it after its resume. */
export const mailDueAt = ({ version, ...mail }: Entry, dueAt: number | null): MailWrite => ({
  kind: 'putEntry',
  entry: { ...mail, dueAt },
  expectedVersion: version,
});

const COLLECT: Mail = { type: 'collect' };
const COLLECT_BODY = JSON.stringify(COLLECT);
export const collectWrite = (inputs: Inputs, to: RunKey): MailWrite => mailWrite(inputs, to, COLLECT);
/** Does not parse the body of every mail. */
export const isCollect = ({ body }: Pick<Entry, 'body'>): boolean => body === COLLECT_BODY;

/** Whether it contains a command or sensitive variables. */
export const isConfidential = ({ body }: Pick<Entry, 'body'>): boolean =>
  body.startsWith('{"type":"forwarded"') || body.includes('"sensitive":["');

export const isMail = (write: Write): write is MailWrite =>
  write.kind === 'putEntry' && write.entry.kind === MAIL;

interface AskedCommand {
  readonly command: Command;
  readonly record?: CommandRecord | undefined;
  readonly replyId?: string;
}

/** The command of a mail for its run. */
export function commandOf(entry: Pick<Entry, 'body'>, now: number): AskedCommand {
  const mail: Mail = JSON.parse(entry.body);
  if (mail.type === 'collect') throw new Error('the mailbox reads this, not the run');
  if (mail.type !== 'forwarded') return { command: { ...mail, now } };
  const { command, record, replyId } = mail;
  return { command: { ...command, now }, record, replyId };
}

/** The report of an ended child to its parent; `outputs` are those that readers of the child see. */
export function reportOf(
  run: Run,
  isSensitive: (variable: string) => boolean,
  outputs: JsonObject | undefined,
): Mail | undefined {
  const { parent, runId } = run.facts;
  if (!parent || !isTerminal(run.status)) return;
  const variables: Record<string, Json> = {};
  for (const name of parent.harvest) {
    const value = run.variables[name];
    if (value !== undefined) variables[name] = value;
  }
  const { nodeId, visit } = parent;
  const report: ChildReport = {
    childRunId: runId,
    status: run.status === 'completed' || run.status === 'failed' ? run.status : 'cancelled',
    variables,
    sensitive: parent.harvest.filter(isSensitive),
    ...(parent.reportsOutputs && outputs && { outputs }),
    ...(run.error && { error: run.error }),
    ...inheritedTrust(run),
  };
  return { type: 'childEnded', nodeId, visit, report };
}
