// Before the first paint: the chosen look, and whether this browser can show the console. Old browsers run this too.
import { applyLook } from '../look/preferences.ts';

applyLook();

const isAble =
  'noModule' in HTMLScriptElement.prototype &&
  CSS.supports('color', 'light-dark(#000, #fff)') &&
  CSS.supports('selector(:has(a))');

if (!isAble)
  addEventListener('DOMContentLoaded', () => {
    for (const id of ['unable', 'app']) document.getElementById(id)!.hidden = id === 'app';
  });
