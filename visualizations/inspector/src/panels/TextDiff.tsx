import { diffLines } from 'diff/lib/diff/line.js';
import { useMemo } from 'react';
import { Visible } from '../ui/visible.js';

/** Beyond this a diff takes longer than anyone waits. */
const MOST_LINES = 20_000;

/** Two texts as one, with what left and what came. */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = useMemo(() => {
    const lines = before.split('\n').length + after.split('\n').length;
    return lines > MOST_LINES ? null : diffLines(before, after, { timeout: 500 });
  }, [before, after]);
  if (!parts) return <p className="quiet">The texts are too long or too different to compare here.</p>;
  return (
    <pre className="diff" tabIndex={0} aria-label="Difference">
      {parts.map((part, index) => {
        const sign = part.added ? '+' : part.removed ? '−' : ' ';
        return part.value
          .replace(/\n$/, '')
          .split('\n')
          .map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff never move
            <div key={`${index}-${at}`} className={part.added ? 'added' : part.removed ? 'removed' : ''}>
              <span className="sign">{sign}</span>
              <Visible text={line} />
            </div>
          ));
      })}
    </pre>
  );
}
