/** The page of a link: the question, the person who answers, and the form. */
import { type FormFields, type Html, html } from '@gantry/http';
import {
  type Json,
  type OpenInterrupt,
  type ResolveInterruptResponse,
  voteInWords,
  wordsOf,
} from '@gantry/protocol';
import { page } from '../page.ts';
import { answerField, assetsIn, choicesOf, membersIn, type Question, questionsIn } from './answer-form.ts';
import type { TokenClaims } from './interrupt-token.ts';

const SHOWN_MAX = 20_000;

export interface AskedPage {
  readonly view: OpenInterrupt;
  readonly claims: Pick<TokenClaims, 'intent' | 'person' | 'expiresAt'>;
  /** The reason why an answer was rejected, and the entered text. */
  readonly problem?: string;
  readonly typed?: FormFields;
}

export function askedPage(asked: AskedPage): string {
  const { view, problem } = asked;
  const { data } = view;
  const description = textAt(data, 'description');
  return page(
    titleOf(view),
    html`${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
${description !== '' && html`<p class="text">${description}</p>`}
${shownValue(view)}
<dl>
<dt>Asked by</dt><dd>${view.nodeId} of the workflow ${view.workflowId}</dd>
<dt>Run</dt><dd>${view.runId}</dd>
<dt>You answer as</dt><dd>${asked.claims.person ?? 'the holder of this link'}</dd>
${votesOf(view)}
<dt>Link works until</dt><dd>${new Date(asked.claims.expiresAt).toUTCString()}</dd>
</dl>
${formOf(asked)}`,
  );
}

const textAt = (data: OpenInterrupt['data'], name: string): string => {
  const value = data[name];
  return typeof value === 'string' ? value : '';
};

const TITLES: Readonly<Record<string, string>> = {
  clarification: 'Questions',
  'conversation.exchange': 'A conversation',
  'low-confidence': 'A decision to confirm',
  'external-event': 'An event from outside',
};

const titleOf = ({ kind, data }: OpenInterrupt): string =>
  [data, Object(data.payload), Object(Object(data.payload).prompt)]
    .flatMap((part) => [textAt(part, 'title'), textAt(part, 'prompt')])
    .find((text) => text !== '') ??
  TITLES[kind] ??
  'A question';

/** The subject of the question, and everything else that a pack sent with it. */
function shownValue({ kind, data }: OpenInterrupt): Html | undefined {
  const subject = kind === 'low-confidence' ? data.decision : (data.artifactData ?? data.payload);
  const shown = [subject, data.metadata].filter((value) => value !== undefined);
  return shown.length === 0 ? undefined : html`<h2>What this is about</h2>${shown.map(inWords)}`;
}

const inWords = (value: unknown): Html =>
  html`${pre(wordsOf(value as Json).join('\n'))}
${typeof value === 'object' && html`<details><summary>As JSON</summary>${pre(JSON.stringify(value, null, 2))}</details>`}`;

function pre(text: string): Html {
  const cut = text.length > SHOWN_MAX && `… (${text.length - SHOWN_MAX} characters more)`;
  return html`<pre tabindex="0">${text.slice(0, SHOWN_MAX)}${cut}</pre>`;
}

function votesOf({ data, votes = [] }: OpenInterrupt): Html | undefined {
  const required = Number(data.requiredApprovals ?? 1);
  if (required < 2) return;
  const granted = votes.filter(({ approve }) => approve).length;
  const names = votes.map(voteInWords).join(', ');
  return html`<dt>Approvals</dt><dd>${granted} of ${required}${names !== '' && `: ${names}`}</dd>`;
}

function formOf({ view, claims, typed = {} }: AskedPage): Html {
  const vote = view.votes?.find(({ voter }) => voter === claims.person);
  if (vote)
    return html`<p>You have ${vote.approve ? 'approved' : 'rejected'} this. It stays open for others.</p>`;
  if (claims.intent !== 'resolve') return html`<p>This link only shows what is asked.</p>`;
  if (view.kind === 'external-event') return html`<p>Another system answers this, not a person.</p>`;
  // Submits to the URL of the page itself
  return html`<form method="post">${fieldsOf(view, typed)}</form>`;
}

function fieldsOf(view: OpenInterrupt, typed: FormFields): Html {
  switch (view.kind) {
    case 'approval':
      return decisionFields(view, texts(view.data.actions), typed);
    case 'low-confidence':
      return decisionFields(view, ['accept', 'reject'], typed);
    case 'clarification':
      return questionFields(questionsIn(view), typed);
    case 'conversation.exchange':
      return html`${area('text', 'Your answer', typedAt(typed, 'text'))}<p><button type="submit">Send</button></p>`;
    default:
      if (membersIn(view).length > 0) return questionFields(membersIn(view), typed);
      return html`${area('text', 'Your answer, as JSON or text', typedAt(typed, 'text'))}
<p><button type="submit">Send</button></p>`;
  }
}

const questionFields = (questions: readonly Question[], typed: FormFields): Html =>
  html`${questions.map((asked, position) => question(asked, answerField(position), typed))}
<p><button type="submit">Send</button></p>`;

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const BUTTONS: Readonly<Record<string, string>> = {
  accept: 'Approve',
  reject: 'Reject',
  refine: 'Ask for changes',
  'edit-accept': 'Approve as edited',
  ask: 'Ask a question',
};

function decisionFields(view: OpenInterrupt, actions: readonly string[], typed: FormFields): Html {
  const { data } = view;
  const edited = typedAt(typed, 'edited') ?? JSON.stringify(data.artifactData ?? null, null, 2);
  const label = actions.includes('ask') ? 'Comment, reason or question' : 'Comment or reason';
  return html`${area('text', label, typedAt(typed, 'text'))}
${assetField(view, typed)}
${actions.includes('edit-accept') && area('edited', 'Edited version, as JSON', edited)}
<p>${actions.map(
    (action) =>
      html`<button type="submit" name="action" value="${action}"${action !== 'accept' && html` class="other"`}>${BUTTONS[action] ?? action}</button>`,
  )}</p>`;
}

function assetField(view: OpenInterrupt, typed: FormFields): Html | undefined {
  const assets = assetsIn(view);
  if (assets.length === 0) return;
  const options = assets.map(({ id, label }, position) => {
    const isChosen = String(position) === typedAt(typed, 'asset') && html` selected`;
    return html`<option value="${position}"${isChosen}>${label === id ? id : `${label} (${id})`}</option>`;
  });
  return html`<label for="asset">Asset</label><select id="asset" name="asset"><option value="">None</option>${options}</select>`;
}

function typedAt(typed: FormFields, name: string): string | undefined {
  const value = Object.hasOwn(typed, name) ? typed[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Browsers drop a line break at the start of a text area. */
const area = (name: string, label: string, value = ''): Html =>
  html`<label for="${name}">${label}</label><textarea id="${name}" name="${name}" rows="4">
${value}</textarea>`;

function question({ question, schema, isOptional = false }: Question, name: string, typed: FormFields): Html {
  const choices = choicesOf(schema);
  const value = typedAt(typed, name) ?? '';
  const label = html`<label for="${name}">${question}</label>`;
  if (!choices) return html`${label}<input id="${name}" name="${name}" value="${value}">`;
  const options = choices.map((choice, position) => {
    const isChosen = String(position) === value && html` selected`;
    return html`<option value="${position}"${isChosen}>${typeof choice === 'string' ? choice : JSON.stringify(choice)}</option>`;
  });
  return html`${label}<select id="${name}" name="${name}"${!isOptional && html` required`}><option value="">Choose</option>${options}</select>`;
}

export function answeredPage({ runId, status, changed, votes }: ResolveInterruptResponse): string {
  const progress = votes && `${votes.granted} of ${votes.required} approvals are in.`;
  if (changed === false)
    return page('Nothing changed', html`<p>Your answer was counted before. ${progress}</p>`);
  return page(
    'Your answer was counted',
    html`<p>${progress ?? `The run ${runId} is ${status}.`} You can close this page.</p>`,
  );
}

const REFUSALS: Readonly<Record<string, string>> = {
  interrupt_not_found: 'This link is not known',
  interrupt_expired: 'This link has ended',
  interrupt_already_resolved: 'This is answered already',
};

export const refusedPage = (code: string, message: string): string =>
  page(REFUSALS[code] ?? 'Your answer was not counted', html`<p>${message}</p>`);
