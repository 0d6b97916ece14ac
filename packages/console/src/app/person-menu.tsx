import { CircleUser, LogOut } from 'lucide-react';
import { Button } from '../look/button.tsx';
import { useLook } from '../look/clock.ts';
import { Menu } from '../look/menu.tsx';
import { words } from '../text/words.ts';
import { lookChoices } from './look-menu.tsx';
import { useSignOut, useWho } from './session.tsx';

/** The key that one is signed in with, how the console looks, and the way out. */
export function PersonMenu() {
  const { name, tenant } = useWho();
  const look = useLook();
  const signOut = useSignOut();
  return (
    <Menu
      end
      label={words.person.menu}
      button={
        <Button kind="bare" icon={CircleUser}>
          <span className="cut">{name}</span>
          <span className="quiet">{tenant}</span>
        </Button>
      }
      groups={[
        ...lookChoices(look),
        [{ label: words.person.signOut, icon: LogOut, run: () => signOut.mutate() }],
      ]}
    />
  );
}
