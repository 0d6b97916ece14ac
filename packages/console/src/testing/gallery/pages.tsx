/** Pages as they may look, made of the components. */
import { Check, GitCompare, Pencil, RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../look/button.tsx';
import { Chart } from '../../look/chart.tsx';
import { hostNow } from '../../look/clock.ts';
import { Ident } from '../../look/copy.tsx';
import { Explain } from '../../look/explain.tsx';
import { count, duration } from '../../look/format.ts';
import { JsonTree } from '../../look/json-tree.tsx';
import { StatusMark } from '../../look/status-mark.tsx';
import { Tabs } from '../../look/tabs.tsx';
import { Countdown } from '../../look/time.tsx';
import { Votes } from '../../look/votes.tsx';
import { TimelineLanes } from '../../run/timeline-lanes.tsx';
import { Runs } from './runs.tsx';
import * as sample from './sample.ts';

const VIEWS = [
  ['Needs attention', 2],
  ['Running', 14],
  ['Waiting', 310],
  ['Failed today', 5],
  ['All', 1_204],
] as const;

export function RunsPage() {
  return (
    <>
      <h1 className="hidden">Runs</h1>
      <nav className="tabs" aria-label="Views">
        {VIEWS.map(([label, open], at) => (
          <a key={label} className="tab link" href="/runs" aria-current={at === 0 ? 'page' : undefined}>
            {label}
            <span className="count">{count(open)}</span>
          </a>
        ))}
      </nav>
      <Runs rows={1_204} fresh={12} />
    </>
  );
}

export const LoadingPage = () => (
  <>
    <h1 className="hidden">Runs</h1>
    <Runs rows={0} isLoading />
  </>
);

export function RunPage() {
  const [chosen, setChosen] = useState('charge');
  const [view, setView] = useState('timeline');
  const lanes = <TimelineLanes lanes={sample.lanes} now={sample.NOW} chosen={chosen} onChoose={setChosen} />;
  return (
    <>
      <div className="page-head">
        <h1>invoice</h1>
        <StatusMark status="failed" />
        <Ident id="run_01m7gq90vvym6e2adc9249prdm" />
        <span className="quiet number">4.1s</span>
        <span className="quiet number">$0.03</span>
        <div className="buttons">
          <Button icon={GitCompare}>Compare</Button>
        </div>
      </div>
      <Explain status="failed" text="Failed at charge: card_declined. 2 effects before it are kept.">
        <Button kind="primary" icon={RotateCcw}>
          Run again from here
        </Button>
        <Button icon={Pencil}>Edit input, run again</Button>
      </Explain>
      <Tabs
        label="Views"
        chosen={view}
        onChoose={setView}
        tabs={[
          { id: 'timeline', label: 'Timeline', panel: lanes },
          { id: 'log', label: 'Log', count: 57, panel: <p>Log</p> },
          { id: 'output', label: 'Output', panel: <JsonTree value={sample.value} /> },
        ]}
      />
    </>
  );
}

export const InboxPage = () => (
  <>
    <div className="page-head">
      <h1>Spend 4,200 € on the stand?</h1>
      <span className="quiet small">onboarding · asked by ada</span>
    </div>
    <div className="page-body question">
      <p className="prose">
        The quote is attached. The stand is built by Acme, who also took it down last year.
      </p>
      <JsonTree value={{ supplier: 'Acme', amount: 4_200 }} />
      <Votes votes={sample.votes} required={2} />
      <Countdown until={hostNow() + 26 * 3_600_000} />
    </div>
    <div className="decide">
      <Button kind="primary" icon={Check}>
        Approve
      </Button>
      <Button icon={X}>Reject</Button>
    </div>
  </>
);

export const HostPage = () => (
  <>
    <div className="page-head">
      <h1>Host</h1>
    </div>
    <div className="page-body columns">
      <Chart title="Runs per minute" points={sample.points(48, 900)} format={count} />
      <Chart title="Time to answer" points={sample.points(48, 40)} format={duration} />
      <Chart title="Waiting" points={sample.points(48, 310)} format={count} />
    </div>
  </>
);
