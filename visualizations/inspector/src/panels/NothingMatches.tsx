import { count, plural } from '../ui/format.js';
import { useInspector } from '../ui/hooks.js';

/** Says that a filter hides everything, and how much that is. */
export function NothingMatches({ hidden, what }: { readonly hidden: number; readonly what: string }) {
  const inspector = useInspector();
  return (
    <div className="empty over">
      <p>
        Nothing matches; {plural(hidden, what)} {hidden === 1 ? 'is' : 'are'} hidden.
      </p>
      <button
        type="button"
        className="button"
        onClick={() => inspector.view.patch({ filter: '', problemsOnly: false, range: null, scope: null })}
      >
        Show all {count(hidden)}
      </button>
    </div>
  );
}
