import type { JsonObject } from '../../../../src/json.js';
import { isJsonObject } from '../../../../src/json.js';
import { Visible } from '../ui/visible.js';
import { TextDiff } from './TextDiff.js';

/** An input for reading: strings with their line breaks, everything else as JSON; nothing shortened. */
export function InputText({ value }: { readonly value: unknown }) {
  if (!isJsonObject(value)) return <pre>{<Visible text={JSON.stringify(value, null, 2)} />}</pre>;
  return (
    <dl>
      {Object.entries(value).map(([key, field]) => (
        <div key={key}>
          <dt>
            <Visible text={key} />
          </dt>
          <dd>
            <pre>
              <Visible text={typeof field === 'string' ? field : JSON.stringify(field, null, 2)} />
            </pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** An input for changing, with the difference below it. */
export function EditInput(props: {
  readonly input: unknown;
  readonly draft: string;
  readonly onChange: (text: string) => void;
  readonly invalid: boolean;
}) {
  const { input, draft, onChange, invalid } = props;
  return (
    <div className="approval-edit">
      <textarea
        className="mono"
        value={draft}
        rows={Math.min(14, draft.split('\n').length + 1)}
        spellCheck={false}
        aria-label="Edited input, JSON"
        aria-invalid={invalid}
        onChange={(event) => onChange(event.target.value)}
      />
      {invalid ? <p className="bad">This is no JSON object.</p> : <TextDiff before={JSON.stringify(input, null, 2)} after={draft} />}
    </div>
  );
}

/** Null when the text is no JSON object. */
export function parseEdit(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
