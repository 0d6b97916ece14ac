import type { RunStatus } from '@gantry/protocol';
import { Inbox, Pause, Pencil, Play, RotateCcw, Workflow } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../../look/button.tsx';
import { Chart } from '../../look/chart.tsx';
import { hostNow } from '../../look/clock.ts';
import { CopyButton, Ident } from '../../look/copy.tsx';
import { Explain } from '../../look/explain.tsx';
import { Checkbox, SelectField, Switch, TextArea, TextField } from '../../look/field.tsx';
import { cost, count } from '../../look/format.ts';
import { JsonTree } from '../../look/json-tree.tsx';
import { CommandLine, Empty, Skeleton } from '../../look/notice.tsx';
import { StatusMark } from '../../look/status-mark.tsx';
import { Tabs } from '../../look/tabs.tsx';
import { Ago, Countdown, Elapsed } from '../../look/time.tsx';
import { Votes } from '../../look/votes.tsx';
import { TimelineLanes } from '../../run/timeline-lanes.tsx';
import * as sample from './sample.ts';

const nothing = () => {};

/** Classes such as `is-hover` stand for what a pointer does, so that all can be seen at once. */
export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="part" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

export const Buttons = () => (
  <Part title="Buttons">
    {(['primary', 'plain', 'bare', 'danger'] as const).map((kind) => (
      <div key={kind} className="buttons">
        <Button kind={kind} icon={Play}>
          Run again
        </Button>
        <Button kind={kind} className="is-hover">
          Hover
        </Button>
        <Button kind={kind} className="is-focus">
          Focus
        </Button>
        <Button kind={kind} icon={Play} busy>
          Busy
        </Button>
        <Button kind={kind} disabled>
          Disabled
        </Button>
        <Button kind={kind} slim>
          Slim
        </Button>
        <IconButton kind={kind} label={`${kind} pause`} icon={Pause} />
      </div>
    ))}
  </Part>
);

export function Fields() {
  const [choice, setChoice] = useState('auto');
  const options = ['auto', 'always', 'never'].map((value) => ({ value, label: value }));
  return (
    <Part title="Fields">
      <div className="columns">
        <TextField label="Name" hint="As others will see it." placeholder="nightly-report" />
        <TextField label="Workflow" defaultValue="invoice" />
        <TextField label="Amount" defaultValue="abc" problem="Must be a number, such as 42." mono />
        <TextField label="Owner" defaultValue="ada" disabled />
        <SelectField label="Retry" value={choice} onChange={setChoice} options={options} />
        <SelectField
          label="Zone"
          value="utc"
          onChange={nothing}
          options={[{ value: 'utc', label: 'UTC' }]}
          disabled
        />
        <TextArea label="Inputs" mono defaultValue={'{\n  "name": "Ada"\n}'} />
        <div className="stack">
          <Checkbox label="Notify me" defaultChecked />
          <Checkbox label="Include children" />
          <Checkbox label="Some" ref={(box) => void (box && Object.assign(box, { indeterminate: true }))} />
          <Checkbox label="Not for this key" disabled defaultChecked />
          <Switch label="Live" checked readOnly />
          <Switch label="Off" checked={false} readOnly />
          <Switch label="Disabled" checked={false} readOnly disabled />
        </div>
      </div>
    </Part>
  );
}

const STATUSES: readonly RunStatus[] = [
  'pending',
  'running',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'paused',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
];

export const Statuses = () => (
  <Part title="Status">
    {['on-panel', 'on-hover', 'on-selected'].map((back) => (
      <div key={back} className={`statuses ${back}`}>
        {STATUSES.map((status) => (
          <StatusMark key={status} status={status} />
        ))}
      </div>
    ))}
    <div className="statuses grey">
      {STATUSES.map((status) => (
        <StatusMark key={status} status={status} wordless />
      ))}
    </div>
  </Part>
);

export const Texts = () => (
  <Part title="Text, times and ids">
    <h1>Page title, 20 on 28</h1>
    <p className="prose">
      Body text, 14 on 20. A run waits for <a href="#link">approval by finance</a>; nothing else of the
      workflow can go on before that. <span className="quiet">Quiet text says what one may skip.</span>
    </p>
    <div className="buttons">
      <Ident id="run_01m7gq90vvym6e2adc9249prdm" />
      <Ago at={sample.NOW - 3 * 3_600_000} />
      <Elapsed since={sample.NOW - 75_000} />
      <Countdown until={hostNow() + 26 * 3_600_000} />
      <Countdown until={hostNow() + 20 * 60_000} />
      <Countdown until={hostNow() - 1} />
      <CommandLine text="npx gantry explain run_01m7" />
      <CopyButton text="copied" />
    </div>
  </Part>
);

export function Views() {
  const [tab, setTab] = useState('timeline');
  const [chosen, setChosen] = useState('charge');
  const tabs = ['timeline', 'log', 'graph'].map((id, at) => ({
    id,
    label: id,
    panel: <p className="quiet small">{id}</p>,
    ...(at === 1 && { count: 1_204 }),
    disabled: at === 2,
  }));
  return (
    <Part title="Tabs and timeline">
      <Tabs label="Views" tabs={tabs} chosen={tab} onChoose={setTab} />
      <TimelineLanes lanes={sample.lanes} now={sample.NOW} chosen={chosen} onChoose={setChosen} />
    </Part>
  );
}

export const Explanations = () => (
  <Part title="Explanation">
    <Explain
      status="failed"
      text="Failed at charge: card_declined. 2 effects before it are kept."
      notes={['Try 2 of 2.']}
    >
      <Button kind="primary" icon={RotateCcw}>
        Run again from here
      </Button>
      <Button icon={Pencil}>Edit input, run again</Button>
      <Button>Compare with last good</Button>
    </Explain>
    <Explain
      status="waiting-approval"
      text="Waits 3h for approval by finance. Without an answer it is rejected in 21h."
    />
    <Explain status="running" text="Runs transform since 40s." />
    <Explain status="paused" text="Paused by ada 40m ago." />
  </Part>
);

export const Values = () => (
  <Part title="Value, votes, figures">
    <div className="columns">
      <JsonTree value={sample.value} />
      <div className="stack">
        <Votes votes={sample.votes} required={2} />
        <Votes votes={[]} required={3} />
        <Chart title="Runs per minute" points={sample.points(48, 900)} format={count} />
        <Chart title="Cost" points={[]} format={cost} />
      </div>
    </div>
  </Part>
);

export const Emptiness = () => (
  <Part title="Nothing to show">
    <div className="columns">
      <Empty
        icon={Workflow}
        text="No workflow is registered yet."
        command="npx gantry workflows put hello.json"
      >
        <Button kind="primary">Run the sample</Button>
      </Empty>
      <Empty icon={Inbox} text="Nothing waits for you." />
    </div>
    <div className="stack">
      <Skeleton width="60%" />
      <Skeleton width="40%" />
    </div>
  </Part>
);
