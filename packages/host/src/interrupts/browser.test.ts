import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openBrowser, watchedPage } from '../../../http/src/testing/browser.ts';
import { auditPage } from '../../../http/src/testing/page-audit.ts';
import { apiTest } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';

const EVIL = `<script>document.title = 'taken'</script>`;
const BUDGET = workflow('budget', [
  node('board', 'core.approvalGate', {
    title: 'Spend 4,200 € on the stand?',
    description: `The quote is attached.\nSecond line. ${EVIL}`,
    actions: ['accept', 'reject', 'ask'],
    artifactData: { supplier: 'Acme', amount: 4200, note: EVIL },
    requiredApprovals: 2,
    timeoutMs: 3 * 86_400_000,
  }),
]);

const PHONE = { viewport: { width: 390, height: 844 } };

async function served(t: TestContext) {
  const api = await apiTest(t, { workflows: [BUDGET] });
  const origin = await api.host.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...api,
    origin,
    async link(runId: string, person: string): Promise<string> {
      const url = `/v1/host/gantry/runs/${runId}/interrupts/board/links`;
      const made = await api.post(url, { person }, { host: new URL(origin).host });
      assert.equal(made.statusCode, 201, made.body);
      return made.json().url;
    },
  };
}

/** One browser and one host for all: starting them costs more than the tests. */
test('the page of a link in a browser', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const api = await served(t);
  await t.test('two people approve, with no script and nothing from elsewhere', () => approve(browser, api));
  await t.test('the page reads well on a phone, by day and by night', () => readWell(browser, api));
});

type Browser = NonNullable<Awaited<ReturnType<typeof openBrowser>>>;
type Served = Awaited<ReturnType<typeof served>>;

async function approve(browser: Browser, api: Served): Promise<void> {
  const runId = await api.start('budget');
  for (const [person, said] of [
    ['ada', '1 of 2 approvals are in.'],
    ['bob', `The run ${runId} is completed.`],
  ] as const) {
    const { page, complaints } = await watchedPage(browser, api.origin, { javaScriptEnabled: true });
    await page.goto(await api.link(runId, person));
    assert.equal(await page.title(), 'Spend 4,200 € on the stand?');
    assert.equal(await page.locator('dd').nth(2).textContent(), person);
    await page.getByLabel('Comment, reason or question').fill('ça va ✓');
    await page.getByRole('button', { name: 'Approve' }).click();
    assert.match((await page.getByRole('main').textContent()) ?? '', new RegExp(said));
    assert.deepEqual(complaints, []);
    await page.close();
  }
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  const received = events.find(({ type }: { type: string }) => type === 'approval.received');
  assert.equal(received.payload.comment, 'ça va ✓');
}

async function readWell(browser: Browser, api: Served): Promise<void> {
  const url = await api.link(await api.start('budget'), 'ada@example.org');
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await watchedPage(browser, api.origin, { ...PHONE, colorScheme });
    await page.goto(url);
    // A page with one thing to do has neither
    const missing = ['0 of header', '0 of footer'];
    assert.deepEqual(await auditPage(page), missing, colorScheme);
    await page.close();
  }
}
