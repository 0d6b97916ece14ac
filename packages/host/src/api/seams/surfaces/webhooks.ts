/** Webhooks in the dialect of the suite: like a surface, for its own tenants. */
import { invalid, misfit, RegisterWebhookRequest, WEBHOOKS_PER_TENANT_MAX } from '@gantry/protocol';
import type { Caller } from '@gantry/resources';
import type { WebhookService } from '../../../webhooks/webhook-service.ts';

export const WEBHOOKS = 'webhooks';

export type WebhookOperations = (caller: Caller, op: string, args: object) => Promise<unknown>;

export const webhookOperations =
  (service: WebhookService): WebhookOperations =>
  async (caller, op, args) => {
    switch (op) {
      case 'register': {
        const problem = misfit(RegisterWebhookRequest, args);
        if (problem) throw invalid(`args${problem.path} ${problem.message}.`);
        return service.register(caller, args as RegisterWebhookRequest);
      }
      case 'list': {
        const listed = await service.list(caller, { limit: WEBHOOKS_PER_TENANT_MAX });
        return { webhooks: listed.map(({ view }) => view) };
      }
      case 'unregister': {
        await service.remove(caller, String(Object(args).webhookId));
        return { ok: true };
      }
      default:
        throw invalid(`Webhooks have no ${op}. Use register, list or unregister.`);
    }
  };
