import { type Script, text, toolUse } from '../../src/testing/index.js';

/** What a scripted model answers, by the name a block asks for. */
export const SCRIPTS: Readonly<Record<string, Script>> = {
  weather: [[toolUse('Weather', { city: 'Oslo' })], [text('It is 8 degrees in Oslo.')]],
  words: [[text('Six gates.')]],
  push: [[toolUse('Bash', { command: 'git push origin main' })], [text('Then not.')]],
  edit: [
    [toolUse('Read', { file_path: 'src/money.js' })],
    [toolUse('Bash', { command: 'rm -rf build' })],
    [text('I read it, and may not remove anything.')],
  ],
};

/** What the text before a fragment has established, and how it ends. */
export const PRELUDES: Readonly<Record<string, { readonly before: string; readonly after: string }>> = {
  session: {
    before: `import { createSession } from 'sixgates';\nconst session = createSession({ store: false, interactive: true });`,
    after: 'await session.close();',
  },
};
