import type { AskedQuestion, QuestionChoice } from '../../../../src/inspect/protocol/rpc.js';
import { Visible } from '../ui/visible.js';

export const noChoices = (questions: readonly AskedQuestion[] | undefined): readonly QuestionChoice[] =>
  (questions ?? []).map(() => ({ options: [], other: '' }));

export const allAnswered = (choices: readonly QuestionChoice[]): boolean =>
  choices.every(({ options, other }) => options.length > 0 || other.trim() !== '');

/** A tool's questions with their choices. One may always answer in one's own words. */
export function QuestionForm(props: {
  readonly questions: readonly AskedQuestion[];
  readonly choices: readonly QuestionChoice[];
  readonly disabled: boolean;
  readonly onChange: (choices: readonly QuestionChoice[]) => void;
  /** Enter, in a choice or a field. */
  readonly onDone: () => void;
}) {
  const { questions, choices, disabled, onChange, onDone } = props;
  const set = (at: number, choice: QuestionChoice): void => onChange(choices.map((old, index) => (index === at ? choice : old)));
  return (
    <div
      className="questions"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
        event.preventDefault();
        onDone();
      }}
    >
      {questions.map(({ question, header, options, multiSelect }, at) => {
        const { options: chosen, other } = choices[at] ?? { options: [], other: '' };
        const choose = (option: number, on: boolean): void => {
          const rest = multiSelect ? chosen.filter((one) => one !== option) : [];
          set(at, { options: on ? [...rest, option].sort((a, b) => a - b) : rest, other: multiSelect ? other : '' });
        };
        return (
          <fieldset key={question} disabled={disabled}>
            <legend>
              <span className="tag ask">
                <Visible text={header} />
              </span>{' '}
              <b>
                <Visible text={question} />
              </b>
              {multiSelect && <span className="quiet"> several may be taken</span>}
            </legend>
            {options.map(({ label, description }, option) => (
              <label className="check" key={label}>
                <input
                  type={multiSelect ? 'checkbox' : 'radio'}
                  name={`question-${at}`}
                  checked={chosen.includes(option)}
                  onChange={(event) => choose(option, event.target.checked)}
                />
                <span>
                  <Visible text={label} />{' '}
                  <span className="quiet">
                    <Visible text={description} />
                  </span>
                </span>
              </label>
            ))}
            <input
              type="text"
              aria-label={`In your own words: ${question}`}
              placeholder="in your own words"
              value={other}
              onChange={(event) => set(at, { options: multiSelect ? chosen : [], other: event.target.value })}
            />
          </fieldset>
        );
      })}
    </div>
  );
}
