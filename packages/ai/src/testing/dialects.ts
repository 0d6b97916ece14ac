import type { FamilyName } from '../providers/families.ts';
import { anthropicMessages } from './anthropic.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini.ts';
import { ollama, openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

export interface Spoken {
  readonly dialect: Dialect;
  readonly family: FamilyName;
}

/** Every dialect, with the family that speaks it. */
export const DIALECTS: readonly Spoken[] = [
  { dialect: anthropicMessages, family: 'anthropic' },
  { dialect: openaiResponses, family: 'openai' },
  { dialect: openaiChat, family: 'openai-compatible' },
  { dialect: ollama, family: 'openai-compatible' },
  { dialect: gemini, family: 'google' },
];
