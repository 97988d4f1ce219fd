import { PermissionEngine } from '../permissions/engine.js';
import { parseRuleText } from '../permissions/grammar.js';
import type { PermissionAnswer, PermissionRule } from '../permissions/types.js';
import type { PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { PersonAnswers, PersonQuestion } from '../tool/types.js';
import { CliError } from './failure.js';
import { headOf, visible } from './lines.js';
import type { Prompter } from './prompter.js';
import type { Screen } from './screen.js';

const SURFACE = { type: 'person', surface: 'terminal' } as const;

/** Answers that a script gave beforehand: `--yes-to 'Bash(npm test *)'`. A yes as a person's would be, for exactly what the rule covers. */
export function createYesTo(
  rules: readonly string[],
  cwd: string,
  home: string,
): (prompt: PermissionPrompt) => PermissionAnswer | undefined {
  const allow = rules.map((text): PermissionRule => {
    const parsed = parseRuleText(text);
    if (!parsed.ok)
      throw new CliError(`--yes-to ${text}: ${parsed.reason}. A rule looks like 'Bash(npm test *)', 'Edit(/src/**)' or 'Write'.`);
    const { toolName, ruleContent } = parsed;
    return { behavior: 'allow', text, scope: 'cliArg', root: cwd, toolName, ...(ruleContent === undefined ? {} : { ruleContent }) };
  });
  if (allow.length === 0) return () => undefined;
  const engine = new PermissionEngine({ rules: allow, cwd, home });
  return (prompt) => {
    const { allowRule } = engine.facts({ toolName: prompt.toolName, input: prompt.input });
    return allowRule ? { behavior: 'allow', source: { type: 'person', surface: `--yes-to ${allowRule.rule.text}` } } : undefined;
  };
}

/** Puts questions to the person at the terminal, one after another. */
export class TerminalAsker {
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly prompter: Prompter,
    private readonly screen: Screen,
    /** Ctrl-C, Escape or Ctrl-D in place of an answer. */
    private readonly onInterrupt: () => void,
  ) {}

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    // Whoever answers the tool's questions next has thereby agreed to be asked.
    if (prompt.toolName === 'AskUserQuestion') return Promise.resolve({ behavior: 'allow', source: SURFACE });
    return this.inTurn(signal, async () => {
      const { paint } = this.screen;
      const body = inputText(prompt.input).split('\n');
      const isLong = body.length > this.screen.height;
      this.print(
        `\n${paint('yellow', '?')} ${paint('bold', headline(prompt))}${prompt.agent ? paint('gray', ` for agent ${visible(prompt.agent)}`) : ''}`,
      );
      this.print(paint('gray', indented(isLong ? body.slice(0, this.screen.height - 10) : body)));
      if (isLong) this.print(paint('yellow', `  … ${body.length - this.screen.height + 10} more lines: v shows all`));
      this.print(paint('gray', `  ${visible(prompt.cause.reason)}`));
      const always = rulesOf(prompt);
      this.print(
        [
          '  y  allow once',
          ...(always.length > 0 ? [`  a  allow ${visible(always.join(', '))} for this session`] : []),
          '  n  deny; words after it go to the model (n use the test script)',
          '  s  deny and stop',
        ].join('\n'),
      );
      for (;;) {
        const typed = await this.prompter.ask('allow? ', signal, this.onInterrupt);
        const answer = readPermissionAnswer(typed, prompt);
        if (answer) return answer;
        if (typed.trim().toLowerCase() === 'v') this.print(paint('gray', indented(body)));
        else this.print(`Please answer ${always.length > 0 ? 'y, a, n or s' : 'y, n or s'}.`);
      }
    });
  }

  questions(prompt: PersonPrompt, signal: AbortSignal): Promise<PersonAnswers> {
    return this.inTurn(signal, async () => {
      const { paint } = this.screen;
      const answers: Record<string, string> = {};
      for (const { question, header, options, multiSelect } of prompt.questions) {
        this.print(`\n${paint('yellow', '?')} ${paint('bold', visible(question))} ${paint('gray', `[${visible(header)}]`)}`);
        this.print(
          options.map(({ label, description }, n) => `  ${n + 1}  ${visible(label)}  ${paint('gray', visible(description))}`).join('\n'),
        );
        answers[question] = await this.answer({ options, multiSelect }, signal);
      }
      return answers;
    });
  }

  private async answer(question: Pick<PersonQuestion, 'options' | 'multiSelect'>, signal: AbortSignal): Promise<string> {
    const hint = question.multiSelect ? 'numbers with commas, or your own words: ' : 'a number, or your own words: ';
    for (;;) {
      const answer = readChoice(await this.prompter.ask(hint, signal, this.onInterrupt), question);
      if (answer !== undefined) return answer;
      this.print(`Please answer with 1 to ${question.options.length}, or in your own words.`);
    }
  }

  /** Questions of parallel calls are put one after another, in the order in which they came; one that was withdrawn meanwhile is not put. */
  private inTurn<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const put = () => (signal.aborted ? Promise.reject(new Error('The question was withdrawn.')) : ask());
    const asked = this.queue.then(put, put);
    this.queue = asked.catch(() => undefined);
    return asked;
  }

  private print(text: string): void {
    this.screen.print(text);
  }
}

/** Undefined when the words mean none of the choices. */
export function readPermissionAnswer(typed: string, prompt: Pick<PermissionPrompt, 'suggestions'>): PermissionAnswer | undefined {
  const [, letter = '', words = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
  const said = words.trim();
  switch (letter.toLowerCase()) {
    case 'y':
    case 'yes':
      // Words after a yes may take it back ("yes but not in src"): only a plain yes is one.
      return said === '' ? { behavior: 'allow', source: SURFACE } : undefined;
    case 'a':
    case 'always': {
      const updates = prompt.suggestions.map((update) => ({ ...update, destination: 'session' as const }));
      return updates.length > 0 && said === '' ? { behavior: 'allow', updatedPermissions: updates, source: SURFACE } : undefined;
    }
    case 'n':
    case 'no':
      return { behavior: 'deny', message: said || 'The user does not want this call to run.', source: SURFACE };
    case 's':
    case 'stop':
      return { behavior: 'deny', message: said || 'The user rejected this call and stopped.', interrupt: true, source: SURFACE };
    default:
      return undefined;
  }
}

/** Labels for numbers, else the words themselves. Undefined for nothing, and for a number that is no choice. */
export function readChoice(typed: string, { options, multiSelect }: Pick<PersonQuestion, 'options' | 'multiSelect'>): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const parts = multiSelect && /^[\d\s,]+$/.test(text) ? text.split(/[\s,]+/).filter(Boolean) : [text];
  const chosen = parts.map((part) => (/^\d+$/.test(part) ? options[Number(part) - 1]?.label : part));
  return chosen.includes(undefined) ? undefined : [...new Set(chosen)].join(', ');
}

/** The rules that "always" would add, as one would write them. */
const rulesOf = ({ suggestions }: PermissionPrompt): readonly string[] =>
  suggestions.flatMap((update) => {
    if (update.type === 'setMode') return [`mode ${update.mode}`];
    if (update.type === 'addDirectories') return [`work in ${update.directories.join(', ')}`];
    if (update.type !== 'addRules') return [];
    return update.rules.map(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`));
  });

const headline = ({ toolName, title }: PermissionPrompt): string => visible(headOf(toolName, title));

/** Every field of the input: texts of several lines as they are, the rest as JSON. */
function inputText(input: PermissionPrompt['input']): string {
  return Object.entries(input)
    .map(([field, value]) => {
      if (typeof value !== 'string') return `${field}: ${JSON.stringify(value, null, 2)}`;
      return value.includes('\n') ? `${field}:\n${value.replaceAll(/^/gm, '  ')}` : `${field}: ${value}`;
    })
    .join('\n');
}

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${visible(line)}`).join('\n');
