const failure = (code, message, retryable) => ({ status: 'error', error: { code, message, retryable } });

/** What may pass by itself is worth another try: no answer at all, or one that the server regrets. */
const mayPass = (status) => status >= 500 || status === 429;

/** Reasons of the host for which the address may answer later; its other reasons are refusals. */
const PASSING = new Set(['resolve_failed', 'connect_failed', 'timeout']);

async function status({ inputs, config, signal }) {
  const wanted = config.expect ?? 200;
  try {
    const answer = await fetch(inputs.url, { method: 'HEAD', redirect: 'manual', signal });
    if (answer.status === wanted) return { status: 'success', outputs: { status: answer.status } };
    return failure('unexpected_status', `Got ${answer.status}, not ${wanted}.`, mayPass(answer.status));
  } catch (error) {
    if (typeof error.code === 'string' && !PASSING.has(error.code)) throw error;
    return failure('no_answer', `There was no answer: ${error.message}`, true);
  }
}

export const nodes = { 'vendor.gantry.http-check.status': status };
