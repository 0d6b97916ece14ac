import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react';
import type { ReactNode } from 'react';
import { count } from './format.ts';

export interface TabSpec {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
  readonly disabled?: boolean;
  readonly panel: ReactNode;
}

/** Views of one thing. The chosen one is part of the address, so it comes from outside. */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: readonly TabSpec[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  return (
    <TabProvider selectedId={chosen} setSelectedId={(id) => id && onChoose(id)}>
      <TabList className="tabs" aria-label={label}>
        {tabs.map((tab) => (
          <Tab
            key={tab.id}
            id={tab.id}
            className="tab"
            disabled={tab.disabled ?? false}
            accessibleWhenDisabled
          >
            {tab.label}
            {tab.count !== undefined && <span className="count">{count(tab.count)}</span>}
          </Tab>
        ))}
      </TabList>
      {tabs.map((tab) => (
        <TabPanel key={tab.id} tabId={tab.id} unmountOnHide>
          {tab.panel}
        </TabPanel>
      ))}
    </TabProvider>
  );
}
