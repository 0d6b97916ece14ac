import { Tooltip, TooltipAnchor, TooltipProvider } from '@ariakit/react';
import type { ReactElement } from 'react';

/** Names or completes what it is around; never the only place of something important. */
export function Tip({ text, keys, children }: { text: string; keys?: string; children: ReactElement }) {
  return (
    <TooltipProvider timeout={400} hideTimeout={0}>
      <TooltipAnchor render={children} />
      <Tooltip className="tip" portal unmountOnHide>
        {text}
        {keys && <kbd className="key">{keys}</kbd>}
      </Tooltip>
    </TooltipProvider>
  );
}
