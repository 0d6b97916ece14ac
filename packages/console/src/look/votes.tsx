import type { InterruptVote } from '@gantry/protocol';
import { Check, X } from 'lucide-react';
import { words } from '../text/words.ts';

/** Who has answered a question that several people decide. */
export function Votes({ votes, required }: { votes: readonly InterruptVote[]; required: number }) {
  const granted = votes.filter(({ approve }) => approve).length;
  const length = Math.max(required, votes.length);
  const places = Array.from({ length }, (_, at) => ({ id: `place ${at}`, vote: votes[at] }));
  return (
    <div className="votes" role="group" aria-label={words.votes.label}>
      <p className="asked">
        <span className="dots-of" aria-hidden>
          {places.map(({ id, vote }) => (
            <i key={id} className={vote ? sideOf(vote) : ''} />
          ))}
        </span>
        {words.votes.granted(granted, required)}
      </p>
      {votes.length === 0 ? (
        <p className="quiet small">{words.votes.none}</p>
      ) : (
        <ul>
          {votes.map((vote) => (
            <li key={vote.voter} className={sideOf(vote)}>
              {vote.approve ? <Check size={16} aria-hidden /> : <X size={16} aria-hidden />}
              <span>
                {vote.approve ? words.votes.approved(vote.voter) : words.votes.rejected(vote.voter)}
              </span>
              {vote.comment && <p>{vote.comment}</p>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const sideOf = ({ approve }: InterruptVote): string => (approve ? 'granted' : 'rejected');
