import { parseRuleText } from '../permissions/grammar.js';
import type { PermissionUpdate } from '../permissions/types.js';
import type { Session } from '../session/session.js';
import { parseMode } from '../settings/mode.js';
import { closest } from '../tool/closest.js';
import { exportSession } from './exportSession.js';
import { duration, visible } from './lines.js';
import { findSession, type Place, sessionsOf } from './place.js';
import type { Screen } from './screen.js';
import { MODES } from './sessionOptions.js';
import { sessionLines } from './sessions.js';

/** What commands of a conversation work with. */
export interface Talk {
  readonly session: Session;
  readonly screen: Screen;
  readonly place: Place;
  readonly model: string;
  /** Whether a query runs. */
  readonly isBusy: boolean;
  /** Goes on with another session, or with the same under another model. */
  switchTo(change: { readonly resume?: string; readonly model?: string }): Promise<void>;
  /** Opens the inspector, or finds it open; its address. */
  inspect(): Promise<string>;
  leave(): void;
}

interface SlashCommand {
  readonly name: string;
  readonly usage: string;
  readonly help: string;
  /** True for what would pull the session away from under a running query. */
  readonly needsIdle?: boolean;
  run(argument: string, talk: Talk): Promise<void> | void;
}

const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    usage: '/help',
    help: 'this list',
    run: (_, { screen }) => {
      const width = Math.max(...COMMANDS.map(({ usage }) => usage.length));
      screen.print(COMMANDS.map(({ usage, help }) => `  ${usage.padEnd(width)}  ${help}`).join('\n'));
      screen.print('  A trailing \\ or Alt-Enter goes on in a new line; the up arrow brings back earlier lines; Escape interrupts.');
    },
  },
  {
    name: 'tasks',
    usage: '/tasks [stop ID]',
    help: 'background tasks; stop one',
    run: tasks,
  },
  {
    name: 'permissions',
    usage: '/permissions [allow|ask|deny|remove RULE]',
    help: 'rules with where they come from; add or remove one for this session',
    run: permissions,
  },
  {
    name: 'mode',
    usage: '/mode [MODE]',
    help: `permission mode: ${MODES}`,
    run: (argument, { session, screen }) => {
      if (argument === '') return screen.print(`Mode: ${session.mode}`);
      const mode = parseMode(argument);
      if (mode === undefined) throw new Error(`There is no mode ${argument}: ${MODES}.`);
      for (const warning of session.setMode(mode)) screen.print(screen.paint('yellow', warning));
      screen.print(`Mode: ${session.mode}`);
    },
  },
  {
    name: 'resume',
    usage: '/resume ID',
    help: 'go on with an earlier session (/sessions lists them); background tasks end',
    needsIdle: true,
    run: async (argument, talk) => {
      if (argument === '') throw new Error('Name a session: /resume ID. /sessions lists them.');
      const { sessionId } = findSession(argument, talk.place);
      if (sessionId === talk.session.id) throw new Error('You are in this session.');
      await talk.switchTo({ resume: sessionId });
      talk.screen.print(`Session ${talk.session.id}, ${talk.session.messages.length} messages.`);
    },
  },
  {
    name: 'sessions',
    usage: '/sessions',
    help: 'sessions of this directory',
    run: (_, { place, screen, session }) => screen.print(sessionLines(sessionsOf(place), Date.now(), screen.width, session.id).join('\n')),
  },
  {
    name: 'model',
    usage: '/model [ID]',
    help: 'the model; go on with another one (background tasks end)',
    needsIdle: true,
    run: async (argument, talk) => {
      if (argument !== '') await talk.switchTo({ model: argument });
      talk.screen.print(`Model: ${talk.model}`);
    },
  },
  {
    name: 'compact',
    usage: '/compact [WHAT TO KEEP]',
    help: 'put a summary in place of older messages',
    run: async (argument, { session, screen }) => {
      const done = await session.compact(argument === '' ? undefined : argument);
      if (!done) screen.print('Nothing was summarised; the history is as it was.');
    },
  },
  {
    name: 'inspect',
    usage: '/inspect',
    help: 'open the inspector page',
    run: async (_, talk) => talk.screen.print(`Inspector:   ${await talk.inspect()}`),
  },
  {
    name: 'export',
    usage: '/export [FILE]',
    help: 'write the conversation as Markdown, or its transcript as *.jsonl',
    run: async (argument, { session, screen, place }) => screen.print(`Written: ${await exportSession(session, argument, place.cwd)}`),
  },
  { name: 'exit', usage: '/exit', help: 'leave', run: (_, talk) => talk.leave() },
];

/** A first word like `/tasks`. A path (`/etc/hosts`) is none. */
export const isSlashCommand = (text: string): boolean => /^\/[a-z]+(\s|$)/.test(text);

export async function runSlashCommand(text: string, talk: Talk): Promise<void> {
  const [, given = '', argument = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  const name = given === 'quit' ? 'exit' : given;
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) {
    const [near] = closest(
      name,
      COMMANDS.map((one) => one.name),
    );
    const hint = near === undefined ? '' : ` Did you mean /${near}?`;
    throw new Error(`There is no command /${name}.${hint} /help lists them; begin with a space to send the line to the model.`);
  }
  if (command.needsIdle === true && argument !== '' && talk.isBusy)
    throw new Error(`/${name} must wait until the query has ended; Ctrl-C interrupts it.`);
  await command.run(argument.trim(), talk);
}

async function tasks(argument: string, { session, screen }: Talk): Promise<void> {
  const [verb, id] = argument.split(/\s+/);
  if (verb === 'stop' && id !== undefined) {
    const task = await session.stopTask(id);
    return screen.print(`Task ${task.id} ${task.status}.`);
  }
  if (argument !== '') throw new Error('Write /tasks, or /tasks stop ID.');
  if (session.tasks.length === 0) return screen.print('No background tasks.');
  for (const { id: taskId, status, title, startedAt, outputFile, summary } of session.tasks) {
    const time = status === 'running' ? `  ${duration(Date.now() - startedAt)}` : '';
    screen.print(visible(`  ${taskId}  ${status}${time}  ${title}${summary ? `: ${summary}` : ''}\n      ${outputFile}`));
  }
}

function permissions(argument: string, { session, screen }: Talk): void {
  if (argument === '') {
    screen.print(`Mode: ${session.mode}`);
    const { rules } = session;
    if (rules.length === 0) screen.print('No rules: what the mode does not settle is asked.');
    for (const { behavior, text, scope, file, line } of rules) {
      const origin = file === undefined ? scope : `${file}${line === undefined ? '' : `:${line}`}`;
      screen.print(visible(`  ${behavior.padEnd(5)}  ${text}  (${origin})`));
    }
    return;
  }
  const [, verb = '', text = ''] = /^(\S+)\s*([\s\S]*)$/.exec(argument) ?? [];
  const parsed = parseRuleText(text);
  if (!parsed.ok) throw new Error(`"${text}" is not a rule: ${parsed.reason}. A rule looks like Bash(npm test *), Edit(/src/**) or Write.`);
  const { toolName, ruleContent } = parsed;
  const rules = [{ toolName, ...(ruleContent === undefined ? {} : { ruleContent }) }];
  for (const update of updatesFor(verb, rules))
    for (const warning of session.updatePermissions([update])) screen.print(screen.paint('yellow', warning));
  screen.print(verb === 'remove' ? `Removed for this session: ${text}` : `For this session: ${verb} ${text}`);
}

function updatesFor(
  verb: string,
  rules: readonly { readonly toolName: string; readonly ruleContent?: string }[],
): readonly PermissionUpdate[] {
  const destination = 'session' as const;
  switch (verb) {
    case 'allow':
    case 'ask':
    case 'deny':
      return [{ type: 'addRules', rules, behavior: verb, destination }];
    case 'remove':
      return (['allow', 'ask', 'deny'] as const).map((behavior) => ({ type: 'removeRules', rules, behavior, destination }));
    default:
      throw new Error('Write /permissions, or /permissions allow|ask|deny|remove RULE. Rules of files are changed in the files.');
  }
}
