/** Runs of the governance gate, answered with each role. */
import type { Api } from '@gantry/http';
import Type, { type Static } from 'typebox';
import { definition, edge, node, seamId } from './definition.ts';
import { type Drive, resolver } from './drive.ts';
import { seam } from './seam.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Gate = Type.Object({
  scenario: Type.Enum(['unauthorized-grant', 'grant', 'reject', 'override', 'quorum']),
  principal: Type.Optional(Text),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
});

interface Scenario {
  readonly quorum: number;
  /** Answers in order, each from a different person. */
  readonly answers: readonly { readonly roles: readonly string[]; readonly action: string }[];
}

const APPROVER = 'approver';
const OWNER = 'owner';
const grant = { roles: [APPROVER], action: 'accept' };

const SCENARIOS: { readonly [Name in Static<typeof Gate>['scenario']]: Scenario } = {
  'unauthorized-grant': { quorum: 1, answers: [{ roles: [], action: 'accept' }] },
  grant: { quorum: 1, answers: [grant] },
  reject: { quorum: 1, answers: [{ roles: [APPROVER], action: 'reject' }] },
  override: { quorum: 1, answers: [{ roles: [OWNER], action: 'override' }] },
  quorum: { quorum: 2, answers: [grant, grant] },
};

const OUTCOMES = ['authorization.decided', 'approval.granted', 'approval.rejected', 'approval.overridden'];

/** The node after the gate is reached only if the gate is accepted. */
const gated = (quorum: number) =>
  definition(
    seamId(`governance-${quorum}`),
    [
      node('gate', 'core.openwop.governance.approvalGate', {
        config: { requiredRole: APPROVER, quorum, override: { requiredRole: OWNER, audited: true } },
      }),
      node('behind', 'core.noop'),
    ],
    {
      edges: [
        edge('gate', 'behind', { condition: { type: 'equals', left: 'outputs.action', right: 'accept' } }),
      ],
    },
  );

export function governanceSeam(app: Api, drive: Drive): void {
  seam(app, 'governance/approval-gate', Gate, async (caller, body) => {
    const { scenario, principal = 'conformance-principal', reason = `The ${scenario} of a seam.` } = body;
    const { quorum, answers } = SCENARIOS[scenario];
    const key = await drive.start(caller, [gated(quorum)]);
    for (const [index, { roles, action }] of answers.entries()) {
      await drive.atRest(key);
      const name = index === 0 ? principal : `${principal}-${index + 1}`;
      await drive.answer(key, { action, reason }, resolver(name, roles));
    }
    const { run } = await drive.atRest(key);
    if (run.interrupts.get('gate')) await drive.close(key);
    const event = (await drive.events(key)).findLast(({ type }) => OUTCOMES.includes(type));
    const released = run.nodes.get('behind')?.status === 'completed';
    return { released, ...(event && { event }), runId: key.runId };
  });
}
