import { QueryClientProvider } from '@tanstack/react-query';
import { House } from 'lucide-react';
import { Route, Switch, useLocation } from 'wouter';
import { Button } from '../look/button.tsx';
import { Banner, Empty } from '../look/notice.tsx';
import { Shell } from '../look/shell.tsx';
import { Toasts } from '../look/toast.tsx';
import { StartPage } from '../pages/start.tsx';
import { words } from '../text/words.ts';
import { Missing } from './missing.tsx';
import { PersonMenu } from './person-menu.tsx';
import { queries, type SessionState, useSession, WhoProvider } from './session.tsx';
import { SignInAgain, SignInByLink, SignInPage } from './sign-in.tsx';

export const App = () => (
  <QueryClientProvider client={queries}>
    <Switch>
      <Route path="/sign-in" component={SignInByLink} />
      <Route component={ForPeople} />
    </Switch>
    <Toasts />
  </QueryClientProvider>
);

/** Every other address needs a session. Nothing is shown while the first answer is on its way: it is soon there. */
function ForPeople() {
  const session = useSession();
  if (session.kind === 'signed-in') return <Console session={session} />;
  if (session.kind === 'signed-out') return <SignInPage />;
  return session.kind === 'unreachable' ? <Unreachable /> : null;
}

const Unreachable = () => (
  <main>
    <h1 className="hidden">{words.product}</h1>
    <Empty icon={House} text={words.start.away}>
      <Button onClick={() => location.reload()}>{words.retry}</Button>
    </Empty>
  </main>
);

const places = [{ path: '/', label: words.start.title, icon: House }];

function Console({ session }: { session: Extract<SessionState, { kind: 'signed-in' }> }) {
  const [path] = useLocation();
  const banner = session.isUnreachable && <Banner bad>{words.start.unreachable}</Banner>;
  return (
    <WhoProvider who={session.who}>
      <Shell places={places} path={path} banner={banner} person={<PersonMenu />}>
        <Switch>
          <Route path="/" component={StartPage} />
          <Route component={Missing} />
        </Switch>
      </Shell>
      <SignInAgain isOpen={session.isEnded} />
    </WhoProvider>
  );
}
