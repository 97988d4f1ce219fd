import type { FunctionHandler } from '../config-types.js';
import type { RawOutcome } from '../effects.js';
import { bounded, failureSentence, type HandlerCall } from '../handler.js';

/** Calls a hook in code with a copy of the input, so that no hook can change what another sees. */
export function runFunction(call: HandlerCall<FunctionHandler>): Promise<RawOutcome> {
  return bounded(call, async (signal) => {
    try {
      return { kind: 'value', value: await call.handler.callback(structuredClone(call.payload), call.toolUseId, { signal }) };
    } catch (error) {
      return { kind: 'failed', message: `It threw: ${failureSentence(error)}` };
    }
  });
}
