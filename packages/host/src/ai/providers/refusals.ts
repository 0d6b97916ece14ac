/** Errors for models that cannot be used, with the alternatives. */
import type { Task } from '@gantry/ai';
import { type ErrorCode, OpenwopError } from '@gantry/protocol';
import type { Provider } from './provider-table.ts';

/** Codes for tasks that no provider here supports, where the protocol has one. */
const UNSUPPORTED: Readonly<Partial<Record<Task, ErrorCode>>> = {
  speech: 'speech_synthesis_unsupported',
  transcription: 'transcription_unsupported',
  search: 'host_capability_missing',
  rerank: 'host_capability_missing',
  upscale: 'host_capability_missing',
};
/** How to get a provider, where a key of a known one does not help. */
const CONFIGURE: Readonly<Partial<Record<Task, string>>> = {
  rerank: 'The operator can add an endpoint with "rerankModels" in the file of GANTRY_AI',
  upscale: 'The operator can add an endpoint with "upscaleModels" in the file of GANTRY_AI',
};

export function cannot({ id }: Provider, task: Task, able: readonly Provider[]): OpenwopError {
  const providers = [...able.map(({ id }) => id), 'scripted'];
  return new OpenwopError(UNSUPPORTED[task] ?? 'provider_not_supported', {
    message: `The provider ${id} has no models for ${task}. These have: ${providers.join(', ')}.`,
    details: { provider: id, task, providers },
  });
}

export const addKey = ({ id, baseUrl }: Provider): string =>
  `gantry credentials add ${id} --provider ${id} --audience ${new URL(baseUrl).hostname}`;

export const noKey = (provider: Provider): OpenwopError =>
  new OpenwopError('provider_unavailable', {
    message: `There is no key for ${provider.id}. Add one with: ${addKey(provider)}`,
    details: { provider: provider.id },
  });

const ADD_KEY = 'Add a key with `gantry credentials add`, name "ollama" if it runs';

export const none = (task: Task): OpenwopError =>
  new OpenwopError(UNSUPPORTED[task] ?? 'provider_unavailable', {
    message:
      `There is no model provider for ${task}. ${CONFIGURE[task] ?? ADD_KEY}, or name the ` +
      'provider "scripted" to try without a model. `gantry ai providers` lists what there is.',
  });

export const unreachable = (id: string): OpenwopError =>
  new OpenwopError('provider_unavailable', {
    message: `The provider ${id} does not answer. Check that it runs; the operator configures where it is.`,
    details: { provider: id },
  });

export const unknownModel = (message: string, models: readonly string[]): OpenwopError =>
  new OpenwopError('model_not_supported', {
    message: models.length > 0 ? `${message} It has: ${models.slice(0, 20).join(', ')}.` : message,
    details: { models: models.slice(0, 100) },
  });
