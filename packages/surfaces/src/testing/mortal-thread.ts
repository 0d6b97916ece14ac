/** A thread that echoes, and dies when it is told to. */
import { serve } from '../sqlite/serve.ts';

serve(() => ({
  answer: (requests) =>
    requests.map(({ name, args }) => {
      if (name === 'die') process.exit(1);
      return { kind: 'done', value: args[0] };
    }),
  close: () => {},
}));
