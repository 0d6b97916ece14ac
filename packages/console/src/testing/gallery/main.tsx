import { Boxes, Inbox, ListTree, Server, Workflow } from 'lucide-react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Route, Switch, useLocation } from 'wouter';
import { LookMenu } from '../../app/look-menu.tsx';
import { CommandBox } from '../../look/command-box.tsx';
import { Shell } from '../../look/shell.tsx';
import { Toasts } from '../../look/toast.tsx';
import { Layers } from './layers.tsx';
import * as pages from './pages.tsx';
import * as parts from './parts.tsx';

const places = [
  { path: '/inbox', label: 'Inbox', icon: Inbox, open: 3 },
  { path: '/runs', label: 'Runs', icon: ListTree },
  { path: '/workflows', label: 'Workflows', icon: Workflow },
  { path: '/packs', label: 'Packs', icon: Boxes, isSeldom: true },
  { path: '/host', label: 'Host', icon: Server },
];

const Components = () => (
  <>
    <div className="page-head">
      <h1>Gallery</h1>
    </div>
    <parts.Texts />
    <parts.Buttons />
    <parts.Fields />
    <parts.Statuses />
    <parts.Explanations />
    <Layers />
    <parts.Views />
    <parts.Values />
    <parts.Emptiness />
  </>
);

function Gallery() {
  const [path] = useLocation();
  const [isSearching, setSearching] = useState(false);
  const search = (text: string) => [
    {
      label: 'Go to',
      found: places
        .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
        .map(({ path: to, label, icon }) => ({ id: to, label, icon, hint: to, run: () => {} })),
    },
  ];
  return (
    <>
      <Shell places={places} path={path} onSearch={() => setSearching(true)} person={<LookMenu />}>
        <Switch>
          <Route path="/" component={Components} />
          <Route path="/runs" component={pages.RunsPage} />
          <Route path="/runs/loading" component={pages.LoadingPage} />
          <Route path="/runs/one" component={pages.RunPage} />
          <Route path="/inbox" component={pages.InboxPage} />
          <Route path="/host" component={pages.HostPage} />
        </Switch>
      </Shell>
      <CommandBox open={isSearching} onClose={() => setSearching(false)} search={search} />
      <Toasts />
    </>
  );
}

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <Gallery />
  </StrictMode>,
);
