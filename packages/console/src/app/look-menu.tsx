import { Settings2 } from 'lucide-react';
import { IconButton } from '../look/button.tsx';
import { useLook } from '../look/clock.ts';
import { type Choice, Menu } from '../look/menu.tsx';
import { changeLook, DENSITIES, KEYS, type Look, THEMES, ZONES } from '../look/preferences.ts';
import { words } from '../text/words.ts';

const texts = words.look;

function choice<Name extends keyof Look>(name: Name, values: readonly Look[Name][], look: Look): Choice {
  return {
    name,
    label: texts[name],
    value: look[name],
    options: values.map((value) => ({ value, label: texts[value] })),
    choose: (value) => changeLook({ [name]: value }),
  };
}

export const lookChoices = (look: Look): Choice[] => [
  choice('theme', THEMES, look),
  choice('density', DENSITIES, look),
  choice('zone', ZONES, look),
  choice('keys', KEYS, look),
];

/** How the console looks in this browser. */
export function LookMenu() {
  const look = useLook();
  const button = <IconButton label={texts.menu} icon={Settings2} />;
  return <Menu end label={texts.menu} button={button} groups={lookChoices(look)} />;
}
