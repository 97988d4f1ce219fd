import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { JsonObject, JsonValue } from '../json.js';

/**
 * Says what is wrong with a tool's structured output, if anything. The result is delivered all the same: the call has taken effect,
 * and the model must learn of it. A schema that cannot be compiled checks nothing.
 */
export function outputCheck(schema: JsonObject | undefined): (output: JsonValue | undefined) => string | undefined {
  let validate: ReturnType<AjvJsonSchemaValidator['getValidator']> | undefined;
  return (output) => {
    if (schema === undefined) return undefined;
    if (output === undefined) return 'The tool promised structured output and returned none.';
    try {
      validate ??= new AjvJsonSchemaValidator().getValidator(schema);
    } catch {
      return undefined;
    }
    const result = validate(output);
    return result.valid ? undefined : `The structured output does not fit the tool's own schema: ${result.errorMessage}.`;
  };
}
