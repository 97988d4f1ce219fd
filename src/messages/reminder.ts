/*
 * Facts that the runtime tells the model travel as `<system-reminder>` text blocks behind the results. What is inside comes from hooks,
 * tools and files, so it must not be able to close the wrapper or to forge another.
 */

const TAG = /<(?=\s*\/?\s*system-reminder)/gi;
const ESCAPED_TAG = /&((?:amp;)*)lt;(?=\s*\/?\s*system-reminder)/gi;

/** Makes reminder tags inside a text harmless and leaves everything else as it is. Injective: {@link unescapeReminder} restores the text. */
export function escapeReminder(text: string): string {
  return text.replace(ESCAPED_TAG, '&amp;$1lt;').replace(TAG, '&lt;');
}

/** The text that {@link escapeReminder} was given. */
export function unescapeReminder(text: string): string {
  return text.replace(/&((?:amp;)*)lt;(?=\s*\/?\s*system-reminder)/gi, (_match, levels: string) =>
    levels === '' ? '<' : `&${levels.slice('amp;'.length)}lt;`,
  );
}

/** The text of a reminder block. */
export function wrapReminder(text: string): string {
  return `<system-reminder>\n${escapeReminder(text)}\n</system-reminder>`;
}
