import { type FormEvent, useState } from 'react';
import { useInspector } from '../ui/hooks.js';

/** Goes on with a copy of the session from the step that is looked at. */
export function RestartFrom({ seq }: { readonly seq: number }) {
  const inspector = useInspector();
  const [words, setWords] = useState<string | null>(null);
  if (words === null) {
    return (
      <button type="button" className="button small" onClick={() => setWords('Go on.')}>
        Restart from here…
      </button>
    );
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void inspector.restart(seq, words).then((goesOn) => {
      if (goesOn) setWords(null);
    });
  };
  return (
    <form
      className="restart"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        setWords(null);
      }}
    >
      <span>
        A copy of the session goes on from the last settled answer before this step. Nothing is run again; what tools have changed stays
        changed.
      </span>
      <input
        type="text"
        ref={focusOnce}
        aria-label="What the copy is told"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <button type="submit" className="button small primary" disabled={words.trim() === ''}>
        Start
      </button>
      <button type="button" className="button small" onClick={() => setWords(null)}>
        Cancel
      </button>
    </form>
  );
}

/** The field takes the place of the button that was just pressed, and its focus. */
function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}
