import { handwrittenLoop } from '../handwritten.js';
import { type Contestant, type ContestantSetup, LOOK_DESCRIPTION } from './contestant.js';

export function createContestant({ baseURL, look }: ContestantSetup): Contestant {
  const tools = [
    {
      name: 'Look',
      description: LOOK_DESCRIPTION,
      input_schema: {
        type: 'object' as const,
        properties: { path: { type: 'string' }, line: { type: 'number' } },
        required: ['path', 'line'],
        additionalProperties: false,
      },
    },
  ];
  const run = async (_name: string, input: unknown): Promise<string> => {
    const path = typeof input === 'object' && input !== null && 'path' in input ? input.path : '';
    return look(String(path));
  };
  return {
    open: async () => ({
      send: async (prompt) => {
        await handwrittenLoop({ baseURL, prompt, tools, run });
      },
      close: async () => {},
    }),
  };
}
