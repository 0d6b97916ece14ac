import { KeyRound } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../look/button.tsx';
import { Dialog } from '../look/dialog.tsx';
import { TextField } from '../look/field.tsx';
import { CommandLine } from '../look/notice.tsx';
import { Sign } from '../look/shell.tsx';
import { words } from '../text/words.ts';
import { LookMenu } from './look-menu.tsx';
import { useSignIn } from './session.tsx';
import { useTitle } from './title.ts';

const texts = words.signIn;

/** One field for a key. The key is sent once, and kept nowhere. */
export function SignInForm() {
  const [key, setKey] = useState('');
  const signIn = useSignIn();
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') signIn.mutate({ key: key.trim() });
  };
  return (
    <form className="sign-in-form" onSubmit={send}>
      <TextField
        label={texts.key}
        type="password"
        mono
        autoComplete="off"
        autoFocus
        value={key}
        problem={signIn.error?.message}
        onChange={(event) => setKey(event.target.value)}
      />
      <Button kind="primary" icon={KeyRound} submit busy={signIn.isPending}>
        {texts.action}
      </Button>
    </form>
  );
}

/** In the place of every page, whose address stays. */
export function SignInPage({ problem }: { problem?: string }) {
  useTitle(texts.title);
  return (
    <main className="sign-in">
      <div className="sign-in-look">
        <LookMenu />
      </div>
      <div className="sign-in-body">
        <h1 className="brand">
          <Sign />
          {texts.title}
        </h1>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <SignInForm />
        <div className="sign-in-other">
          <p className="quiet">{texts.other}</p>
          <CommandLine text={texts.command} />
        </div>
      </div>
    </main>
  );
}

/** Our own paths only: a link may have been made by anybody. */
const pathOf = (to: string | null): string => (to !== null && /^\/(?![/\\])/.test(to) ? to : '/');

/** `/sign-in#CODE`: the code is used by this page's request alone, and gone from the address before. */
export function SignInByLink() {
  const [, go] = useLocation();
  const to = pathOf(new URLSearchParams(useSearch()).get('to'));
  const signIn = useSignIn();
  const used = useRef(false);
  useEffect(() => {
    if (used.current) return;
    used.current = true;
    const code = location.hash.slice(1);
    history.replaceState(null, '', location.pathname + location.search);
    if (code === '') go(to, { replace: true });
    else signIn.mutate({ code }, { onSuccess: () => go(to, { replace: true }) });
  }, [go, to, signIn]);
  return signIn.error ? <SignInPage problem={signIn.error.message} /> : null;
}

/** Over a page whose session has ended. It cannot be closed: nothing behind it would be answered. */
export const SignInAgain = ({ isOpen }: { isOpen: boolean }) => (
  <Dialog open={isOpen} title={texts.again} about={texts.kept} onClose={() => {}}>
    <SignInForm />
  </Dialog>
);
