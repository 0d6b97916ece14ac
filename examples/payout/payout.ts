/** The workflow of payout.yaml, written in TypeScript: `node payout.ts > payout.json`. */
import { expression, falsy, truthy, variable, workflow } from '@gantry/client/workflow';

const payout = workflow({
  id: 'payout',
  name: 'Pay out',
  version: '1.0.0',
  description: 'Pays out what a seller has earned. Large amounts need an approval.',
  variables: {
    seller: { type: 'string', required: true },
    amount: { type: 'number', defaultValue: 20 },
    account: { type: 'string', defaultValue: 'DE02 1203 0000 0000 2020 51' },
    reference: { type: 'string' },
  },
  channels: { journal: { reducer: 'append' } },
  triggers: [
    {
      id: 'mornings',
      type: 'schedule',
      enabled: false,
      config: { cron: '0 6 * * 1-5', timezone: 'Europe/Berlin', inputs: { seller: 'ann' } },
    },
  ],
  metadata: { tags: ['example'] },
  settings: { timeout: 172_800_000 },
});

const check = payout.node('check', 'core.conditional', {
  name: 'Large?',
  config: { expression: 'inputs.amount > 100' },
  inputs: { amount: variable('amount') },
});
const ask = payout.node('ask', 'core.approvalGate', {
  name: 'Ask for approval',
  config: { actions: ['accept', 'reject'], timeoutMs: 86_400_000 },
  inputs: {
    title: expression("'Pay ' + string(variables.amount) + ' to ' + variables.seller + '?'"),
    artifactData: expression(
      "{'seller': variables.seller, 'amount': variables.amount, 'account': variables.account}",
    ),
  },
});
const pay = payout.node('pay', 'core.subWorkflow', {
  name: 'Pay',
  config: {
    workflowId: 'bank-transfer',
    inputMapping: { amount: 'amount', account: 'account' },
    outputMapping: { reference: 'reference' },
  },
  settings: { maxRetries: 2, backoffMs: 100 },
});
const note = payout.node('note', 'core.channelWrite', {
  name: 'Note it',
  config: { channelName: 'journal' },
  inputs: { value: expression("variables.seller + ': ' + string(variables.amount)") },
});
const paid = payout.node('paid', 'core.end', {
  name: 'Paid',
  inputs: { result: 'paid', reference: variable('reference') },
});
const declined = payout.node('declined', 'core.end', { name: 'Declined', inputs: { result: 'declined' } });

payout.edge(check, pay, { id: 'small', when: falsy('outputs.result'), rule: 'any_success' });
payout.edge(check, ask, { id: 'large', when: truthy('outputs.result') });
payout.edge(ask, pay, { id: 'approved', rule: 'any_success' });
payout.edge(ask, declined, { id: 'rejected', rule: 'any_failed' });
payout.edge(pay, note, { id: 'transferred' });
payout.edge(note, paid, { id: 'noted' });

export default payout;

if (import.meta.main) console.log(JSON.stringify(payout, null, 2));
