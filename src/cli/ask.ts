import { createInterface } from 'node:readline/promises';
import { PermissionEngine } from '../permissions/engine.js';
import { parseRuleText } from '../permissions/grammar.js';
import type { PermissionAnswer, PermissionRule } from '../permissions/types.js';
import type { PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { PersonAnswers } from '../tool/types.js';
import { createPaint, visible } from './lines.js';

const SURFACE = { type: 'person', surface: 'terminal' } as const;

/** Answers that a script gave beforehand: `--yes-to 'Bash(npm test *)'`. A yes as a person's would be, for exactly what the rule covers. */
export function createYesTo(
  rules: readonly string[],
  cwd: string,
  home: string,
): (prompt: PermissionPrompt) => PermissionAnswer | undefined {
  const allow = rules.map((text): PermissionRule => {
    const parsed = parseRuleText(text);
    if (!parsed.ok) throw new Error(`--yes-to ${text}: ${parsed.reason}`);
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
  private readonly paint;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
  ) {
    this.paint = createPaint(output);
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.inTurn(async () => {
      this.print(
        `\n${this.paint('yellow', '?')} ${this.paint('bold', visible(prompt.title))}${prompt.agent ? ` (agent ${prompt.agent})` : ''}`,
      );
      this.print(this.paint('gray', visible(JSON.stringify(prompt.input, null, 2))));
      this.print(this.paint('gray', prompt.cause.reason));
      const always = rulesOf(prompt);
      const choices = [
        'y  allow once',
        ...(always.length > 0 ? [`a  allow ${always.join(', ')} for this session`] : []),
        'n  deny (add words for the model: n use the test script)',
        's  deny and stop',
      ];
      this.print(choices.map((choice) => `  ${choice}`).join('\n'));
      for (;;) {
        const answer = readPermissionAnswer(await this.line('> ', signal), prompt);
        if (answer) return answer;
        this.print('Please answer y, a, n or s.');
      }
    });
  }

  questions(prompt: PersonPrompt, signal: AbortSignal): Promise<PersonAnswers> {
    return this.inTurn(async () => {
      const answers: Record<string, string> = {};
      for (const { question, options, multiSelect } of prompt.questions) {
        this.print(`\n${this.paint('yellow', '?')} ${this.paint('bold', visible(question))}`);
        this.print(
          options
            .map(({ label, description }, n) => `  ${n + 1}  ${visible(label)} ${this.paint('gray', visible(description))}`)
            .join('\n'),
        );
        const typed = await this.line(multiSelect ? 'numbers with commas, or your own words > ' : 'a number, or your own words > ', signal);
        answers[question] = chosen(
          typed,
          options.map(({ label }) => label),
          multiSelect,
        );
      }
      return answers;
    });
  }

  /** Questions of parallel calls are put one after another, in the order in which they came. */
  private inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.queue.then(ask, ask);
    this.queue = asked.catch(() => undefined);
    return asked;
  }

  private async line(prompt: string, signal: AbortSignal): Promise<string> {
    const terminal = createInterface({ input: this.input, output: this.output });
    try {
      return await terminal.question(prompt, { signal });
    } finally {
      terminal.close();
    }
  }

  private print(text: string): void {
    this.output.write(`${text}\n`);
  }
}

/** Undefined when the words mean none of the choices. */
export function readPermissionAnswer(typed: string, prompt: PermissionPrompt): PermissionAnswer | undefined {
  const [, letter = '', words = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
  switch (letter.toLowerCase()) {
    case 'y':
    case 'yes':
      return { behavior: 'allow', source: SURFACE };
    case 'a':
    case 'always': {
      const updates = prompt.suggestions.map((update) => ({ ...update, destination: 'session' as const }));
      return updates.length > 0 ? { behavior: 'allow', updatedPermissions: updates, source: SURFACE } : undefined;
    }
    case 'n':
    case 'no':
      return { behavior: 'deny', message: words.trim() || 'The user does not want this call to run.', source: SURFACE };
    case 's':
    case 'stop':
      return { behavior: 'deny', message: words.trim() || 'The user rejected this call and stopped.', interrupt: true, source: SURFACE };
    default:
      return undefined;
  }
}

const rulesOf = ({ suggestions }: PermissionPrompt): readonly string[] =>
  suggestions.flatMap((update) =>
    update.type === 'addRules'
      ? update.rules.map(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`))
      : [],
  );

function chosen(typed: string, labels: readonly string[], multiSelect: boolean): string {
  const parts = multiSelect ? typed.split(',') : [typed];
  return parts.map((part) => labels[Number(part.trim()) - 1] ?? part.trim()).join(', ');
}
