import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { House } from 'lucide-react';
import { Route, Switch, useLocation } from 'wouter';
import { Shell } from '../look/shell.tsx';
import { Toasts } from '../look/toast.tsx';
import { StartPage } from '../pages/start.tsx';
import { words } from '../text/words.ts';
import { LookMenu } from './look-menu.tsx';
import { Missing } from './missing.tsx';

const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true } },
});

export function App() {
  const [path] = useLocation();
  return (
    <QueryClientProvider client={queries}>
      <Shell
        places={[{ path: '/', label: words.start.title, icon: House }]}
        path={path}
        person={<LookMenu />}
      >
        <Switch>
          <Route path="/" component={StartPage} />
          <Route component={Missing} />
        </Switch>
      </Shell>
      <Toasts />
    </QueryClientProvider>
  );
}
