/** Speech synthesis and recognition for pack code. */
import {
  estimateTokens,
  SOUND_BYTES_PER_TOKEN,
  type SpeechRequest,
  type TranscriptionAnswer,
  type TranscriptionRequest,
  type Usage,
} from '@gantry/ai';
import { OpenwopError } from '@gantry/protocol';
import { decodeBase64, type ModelsPort, type WriteCall } from '@gantry/surfaces';
import type { Asked, Which } from './ai.ts';
import { failing, wholeCall } from './media-calls.ts';
import { type MediaDeps, madeBy } from './media-port.ts';
import type { ChosenModel } from './model-source.ts';
import type { PlannedCall } from './planned-call.ts';

type SpeechMethods = Pick<
  ModelsPort,
  'callSpeechSynthesizer' | 'callTextToSpeech' | 'callSpeechToText' | 'callTranscriber'
>;
type Spoken = Omit<SpeechRequest, 'model'>;

export function speechMethods(deps: MediaDeps): SpeechMethods {
  const { ask, media } = deps;
  const speak = (call: WriteCall, which: Omit<Which, 'task'>, wanted: Spoken): Promise<Asked<null>> =>
    ask(call, { ...which, task: 'speech' }, (chosen) => speechCall(wanted, chosen));
  return {
    async callSpeechSynthesizer({ provider, model, credentialRef, voiceId, stream, ...wanted }, call) {
      if (stream) throw noStreams();
      const asked = await speak(call, { provider, model, credentialRef }, { ...wanted, voice: voiceId });
      const [made] = asked.media;
      if (!made) throw new OpenwopError('speech_synthesis_failed');
      const { mimeType } = made;
      const audio = {
        url: await media.urlOf(call.tenant, made),
        mediaRef: media.refOf(made),
        mimeType,
        voiceId,
      };
      return { audio, model: asked.model, provider: asked.provider };
    },
    async callTextToSpeech({ provider, model, credentialRef, ...wanted }, call) {
      const asked = await speak(call, { provider, model, credentialRef }, wanted);
      const { data, mimeType } = await madeBy(deps, call.tenant, asked);
      return { audioBase64: Buffer.from(data).toString('base64'), contentType: mimeType };
    },
    async callSpeechToText({ audioBase64, contentType, language, ...which }, call) {
      const data = decodeBase64(audioBase64, 'audioBase64');
      const audio = { data, mimeType: contentType ?? 'audio/mpeg' };
      const wanted = { audio, ...(language !== undefined && { language }) };
      const { answer } = await ask<TranscriptionAnswer>(call, { ...which, task: 'transcription' }, (chosen) =>
        transcriptionCall(wanted, chosen),
      );
      const segments = answer.segments.map(({ text, from, to }) => ({ text, start: from, end: to }));
      return { text: answer.text, segments };
    },
    callTranscriber: async () => {
      throw new OpenwopError('transcription_unsupported', {
        message: 'This host does not support live audio. Use ctx.callSpeechToText for recorded audio.',
      });
    },
  };
}

const noStreams = (): OpenwopError =>
  new OpenwopError('speech_synthesis_failed', {
    message: 'This host does not stream speech. Omit `stream`: the answer contains the complete audio.',
    details: { reason: 'streaming_unsupported' },
  });

const CHARACTERS_PER_UNIT = 1_000;

const speechCall = (ask: Spoken, chosen: ChosenModel): PlannedCall =>
  wholeCall(
    chosen,
    {
      inputTokens: estimateTokens(ask.text),
      units: ask.text.length / CHARACTERS_PER_UNIT,
      fails: failing('speech_synthesis_failed'),
    },
    async (family, reach) => {
      const audio = await family.speech!({ ...ask, model: chosen.model }, reach);
      return { answer: null, media: [audio] };
    },
  );

/** Text has fewer tokens than its audio, so the output limit is that of the input. */
function transcriptionCall(ask: Omit<TranscriptionRequest, 'model'>, chosen: ChosenModel): PlannedCall {
  const inputTokens = Math.ceil(ask.audio.data.byteLength / SOUND_BYTES_PER_TOKEN);
  return wholeCall(chosen, { inputTokens, outputTokens: inputTokens }, async (family, reach) => {
    const heard = await family.transcribe!({ ...ask, model: chosen.model }, reach);
    const usage: Usage = { inputTokens, outputTokens: estimateTokens(heard.text), estimated: true };
    return { answer: JSON.parse(JSON.stringify(heard satisfies TranscriptionAnswer)), usage };
  });
}
