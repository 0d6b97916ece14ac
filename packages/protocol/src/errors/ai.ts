import { refused, retriable } from './entry.ts';

/** Failures of calls to models. */
export const AI_ERRORS = {
  ...refused(0, {
    provider_not_supported: [
      'This host has no model provider of that name.',
      'Use one of `details.providers`; `gantry ai providers` lists them.',
    ],
    model_not_supported: [
      'The provider does not serve that model.',
      'Use one of `details.models`, or leave the model out to get the default of the host.',
    ],
    response_schema_invalid: [
      'The schema for the answer is not a JSON Schema that can be used.',
      'Correct it where `details` points; its root must be an object schema.',
    ],
    content_too_long: [
      'The request is longer than the context of the model.',
      'Shorten the messages, or choose a model with a longer context.',
    ],
    image_safety_filtered_all: [
      'The provider withheld every image for safety.',
      'Change the prompt; the same request is withheld again.',
    ],
    video_generation_cancelled: [
      'The generation of the video was cancelled.',
      'Start a new run if it is still wanted.',
    ],
    envelope_validation_failed: [
      'The model did not answer with a valid envelope of that kind.',
      'Describe the payload in the prompt, or use a stronger model.',
    ],
    envelope_pending: [
      'The node waits for an answer or an envelope.',
      'Answer the interrupt of the run; the node then runs again.',
    ],
    budget_model_denied: [
      'The budget of the run does not allow this model.',
      'Use a model that `modelAllow` and `modelDeny` of the budget permit, or change the budget.',
    ],
  }),
  ...refused(400, {
    speech_synthesis_unsupported: [
      'No model provider of the tenant generates speech.',
      'Add a key of one that does, or name the provider "scripted" to try without; `gantry ai providers` lists them.',
    ],
    transcription_unsupported: [
      'No model provider of the tenant transcribes speech.',
      'Add a key of one that does, or name the provider "scripted" to try without; `gantry ai providers` lists them.',
    ],
    unsupported_modality: [
      'The model does not accept content of this type.',
      'See `details.modalities` for what it accepts; leave the part out, or choose another model.',
    ],
  }),
  ...retriable(0, {
    provider_unavailable: [
      'The model provider did not answer the request.',
      'Try again later; `gantry ai providers` says whether it can be reached.',
    ],
    provider_quota_exhausted: [
      'The model provider limits the rate of requests.',
      'Try again after `details.retryAfterSeconds`, or raise the limit of the account there.',
    ],
    image_generation_failed: ['The provider returned no image.', 'Try again, or change the prompt.'],
    speech_synthesis_failed: [
      'The provider returned no speech.',
      'Try again, or with another text or voice.',
    ],
    video_generation_failed: ['The provider returned no video.', 'Try again, or change the prompt.'],
    video_generation_timeout: [
      'The provider did not finish the video in time.',
      'Try again; shorter videos take less time.',
    ],
  }),
};
