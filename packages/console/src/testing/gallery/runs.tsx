import { Ban, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../look/button.tsx';
import { Ident } from '../../look/copy.tsx';
import { type Filter, FilterBar } from '../../look/filter-bar.tsx';
import { cost, duration } from '../../look/format.ts';
import { StatusMark } from '../../look/status-mark.tsx';
import { Ago } from '../../look/time.tsx';
import { toast } from '../../look/toast.tsx';
import { type Column, PickedBar, VirtualTable } from '../../look/virtual-table.tsx';
import * as sample from './sample.ts';

const nothing = () => {};

export const columns: readonly Column<sample.SampleRun>[] = [
  {
    key: 'workflow',
    head: 'Workflow',
    width: 'minmax(140px, 1.2fr)',
    kind: 'strong',
    place: 'title',
    cell: (run) => (
      <span className="named">
        <StatusMark status={run.status} wordless />
        <span className="cut">{run.workflow}</span>
      </span>
    ),
  },
  {
    key: 'says',
    head: 'What is going on',
    width: 'minmax(160px, 3fr)',
    place: 'text',
    cell: (run) => (
      <span className={run.status === 'failed' ? 'says-bad' : 'quiet'}>{run.says || 'Completed'}</span>
    ),
  },
  { key: 'run', head: 'Run', width: '136px', cell: (run) => <Ident id={run.id} /> },
  {
    key: 'started',
    head: 'Started',
    width: '72px',
    kind: 'number',
    place: 'end',
    cell: (run) => <Ago at={run.startedAt} />,
  },
  { key: 'took', head: 'Took', width: '64px', kind: 'number', cell: (run) => duration(run.tookMs) },
  {
    key: 'cost',
    head: 'Cost',
    width: '56px',
    kind: 'number',
    cell: (run) => (run.costUsd ? cost(run.costUsd) : '–'),
  },
];

export function Runs({ rows, fresh = 0, isLoading }: { rows: number; fresh?: number; isLoading?: boolean }) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [all] = useState(() => sample.runs(rows));
  const [filters, setFilters] = useState<readonly Filter[]>(sample.filters);
  return (
    <>
      <FilterBar kinds={sample.filterKinds} filters={filters} onChange={setFilters} />
      <VirtualTable
        label="Runs"
        columns={columns}
        rows={all}
        keyOf={(run) => run.id}
        nameOf={(run) => run.workflow}
        onOpen={(run) => toast({ kind: 'plain', text: `Opened ${run.id}` })}
        picked={picked}
        onPick={setPicked}
        fresh={fresh}
        isLoading={isLoading ?? false}
      />
      {picked.size > 0 && (
        <PickedBar
          picked={picked.size}
          matching={rows}
          onPickMatching={nothing}
          onClear={() => setPicked(new Set())}
        >
          <Button icon={Ban}>Cancel</Button>
          <Button icon={RotateCcw}>Run again</Button>
        </PickedBar>
      )}
    </>
  );
}
