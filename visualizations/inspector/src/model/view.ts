import type { Part } from './calls.js';

export type LogTab = 'calls' | 'events' | 'sequence' | 'errors';
export type DetailsTab = 'why' | 'input' | 'output' | 'context' | 'raw';
export type Menu = 'breakpoints' | 'held' | 'export' | 'help' | null;
export type Theme = 'auto' | 'light' | 'dark';

/** What a person has chosen to look at. Replaced as a whole, never changed in place. */
export interface View {
  /** The actor that drives chart, log scope and details; null before the first. */
  readonly actor: string | null;
  /** The log shows this actor and what lies below it; null is everything. */
  readonly scope: string | null;
  readonly call: string | null;
  readonly event: number | null;
  readonly log: LogTab;
  readonly details: DetailsTab;
  readonly filter: string;
  readonly problemsOnly: boolean;
  /** Time range picked on the timeline, in milliseconds of the flow. */
  readonly range: { readonly from: number; readonly to: number } | null;
  /** The number of the event after which the flow is shown; null is live. */
  readonly travel: number | null;
  /** The selection moves to what is happening. Ends with the first choice of a person. */
  readonly follow: boolean;
  readonly cameraFollows: boolean;
  readonly showHelpers: boolean;
  readonly menu: Menu;
  readonly theme: Theme;
  readonly letterKeys: boolean;
}

export const PARTS: readonly { readonly part: Part; readonly name: string }[] = [
  { part: 'queued', name: 'queued' },
  { part: 'checks', name: 'checks' },
  { part: 'hooks', name: 'hooks' },
  { part: 'asking', name: 'asking' },
  { part: 'running', name: 'running' },
];

/** Between a call and its result in a transcript. */
export const TRANSCRIPT_PARTS: typeof PARTS = [{ part: 'unknown', name: 'not recorded' }];

export const firstView: View = {
  actor: null,
  scope: null,
  call: null,
  event: null,
  log: 'calls',
  details: 'why',
  filter: '',
  problemsOnly: false,
  range: null,
  travel: null,
  follow: true,
  cameraFollows: true,
  showHelpers: false,
  menu: null,
  theme: 'auto',
  letterKeys: true,
};

const KEY = 'sixgates.preferences';
interface Preferences {
  readonly theme: Theme;
  readonly letterKeys: boolean;
}
/** Storage may be closed to a page opened from a file; preferences then last as long as the page. */
export function loadPreferences(): Preferences {
  const defaults: Preferences = { theme: firstView.theme, letterKeys: firstView.letterKeys };
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return defaults;
    const theme = 'theme' in stored && (stored.theme === 'light' || stored.theme === 'dark') ? stored.theme : 'auto';
    return { theme, letterKeys: !('letterKeys' in stored && stored.letterKeys === false) };
  } catch {
    return defaults;
  }
}
export function savePreferences({ theme, letterKeys }: Preferences): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ theme, letterKeys }));
  } catch {
    // Nothing is lost but the choice.
  }
}
