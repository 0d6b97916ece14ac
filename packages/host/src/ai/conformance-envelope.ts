/** `conformance.envelope`: a node of the public suite that receives one envelope, emits one event or asks one model. */
import { randomUUID } from 'node:crypto';
import type { Outcome } from '@gantry/engine';
import { type EmittedEvent, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Executor } from '../runtime/outside-work.ts';
import { type AskingNode, askingNode, nodeCaller } from './ai.ts';
import type { Envelopes, Received, Receiving } from './envelopes.ts';

/** Passed from a seam to the node of the run that it starts. It may hold secrets, so it is in no definition. */
export type EnvelopeTask =
  | { readonly event: EmittedEvent }
  | { readonly ask: (node: AskingNode) => Promise<JsonObject> }
  | (Pick<Receiving, 'receiver' | 'refusalMode'> & {
      readonly envelope: unknown;
      done(received: Received): void;
    });

export class EnvelopeTasks {
  readonly #tasks = new Map<string, EnvelopeTask>();

  /** Returns the name under which the node finds it. */
  leave(task: EnvelopeTask): string {
    const name = randomUUID();
    this.#tasks.set(name, task);
    return name;
  }

  take(name: unknown): EnvelopeTask | undefined {
    const task = this.#tasks.get(String(name));
    this.#tasks.delete(String(name));
    return task;
  }
}

export function envelopeNode(envelopes: Envelopes, tasks: EnvelopeTasks | undefined): Executor {
  return async ({ runId }, { nodeId, config, ordinalBase }, signal, work) => {
    const task = tasks?.take(config.task);
    if (!task) return failed('not_found', 'The seam that started this run is over.');
    if ('event' in task) {
      await work.emit([task.event]);
      return { ok: true, outputs: {} };
    }
    const node = askingNode(work, nodeId, { signal, ordinalBase });
    if ('ask' in task) return task.ask(node).then((outputs): Outcome => ({ ok: true, outputs }), refused);
    const caller = nodeCaller(node, ordinalBase, 'envelope');
    const received = await envelopes.receive(caller, task.envelope, { ...task, runId, nodeId });
    task.done(received);
    return outcomeOf(received);
  };
}

function outcomeOf({ ending, cause }: Received): Outcome {
  switch (ending.kind) {
    case 'go-on':
      return { ok: true, outputs: {} };
    case 'ask': {
      const request = { kind: 'clarification', profile: 'openwop-chat', questions: ending.questions };
      return { suspend: { key: 'envelope', request }, cause };
    }
    case 'fail': {
      const { code, message, details } = ending;
      return { ok: false, retryable: false, error: { code, message, details }, cause };
    }
  }
}

const failed = (code: string, message: string): Outcome => ({
  ok: false,
  retryable: false,
  error: { code, message },
});

/** Never retryable: a repeat would not find its task. */
function refused(error: unknown): Outcome {
  if (error instanceof OpenwopError) return failed(error.code, error.message);
  throw error;
}
