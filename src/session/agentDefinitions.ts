import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf } from '../tool/errors.js';
import { listedTools, toolListDoubts } from './agentTools.js';

/** A kind of subagent (Claude Code docs, subagents). */
export interface AgentDefinition {
  /** What the Agent tool calls it by: letters, digits, `-` and `_`. */
  readonly name: string;
  /** When to use it: what the model chooses by. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** Names of the tools it gets, as in permission rules: `*` stands for any part, `mcp__server` for all of a server; absent: all of its parent's. */
  readonly tools?: readonly string[];
  /** Names of tools it does not get, written like `tools`. They weigh more. */
  readonly disallowedTools?: readonly string[];
  /** A model id; absent or `inherit`: its parent's. */
  readonly model?: string;
  /** Where it was defined, for messages. */
  readonly source: string;
}

const BUILT_IN_AGENTS: readonly AgentDefinition[] = [
  {
    name: 'general-purpose',
    description: 'Researches questions and carries out tasks of several steps. Has every tool.',
    prompt:
      'You work on one task for another agent, which sees only your last message. Do what was asked, no more and no less. ' +
      'End with a message that says what you did and found, with file paths and figures, so that it stands by itself.',
    source: 'built in',
  },
  {
    name: 'Explore',
    description: 'Finds files and reads code. Read-only: it cannot change anything or run commands.',
    prompt:
      'You explore a code base for another agent, which sees only your last message. You can search and read, never change anything. ' +
      'End with a message that answers the question with file paths and line numbers, so that it stands by itself.',
    tools: ['Glob', 'Grep', 'Read', 'LSP', 'WebFetch', 'WebSearch'],
    source: 'built in',
  },
];

const names = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? listedTools(value) : value.map((name) => name.trim()).filter((name) => name !== '')));
const frontmatter = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'use letters, digits, "-" and "_"'),
  description: z.string().min(1),
  tools: names.optional(),
  disallowedTools: names.optional(),
  model: z.string().min(1).optional(),
});

export interface LoadedAgents {
  readonly agents: readonly AgentDefinition[];
  readonly warnings: readonly string[];
}

export interface AgentPlaces {
  /** Directory of the user's settings. */
  readonly configDir: string;
  readonly cwd: string;
  /** False reads no file. Default true. */
  readonly files?: boolean;
  /** Agents given in code; they replace those of files. */
  readonly given?: readonly GivenAgent[];
  /** Tools besides the built-in ones, so that lists with them are not doubted. */
  readonly toolNames?: readonly string[];
}
/** A kind of subagent given in code. */
export type GivenAgent = Omit<AgentDefinition, 'source'>;

/**
 * The agents of a session: built in, then those of `<configDir>/agents` (`.md` files, also in folders within), then the project's, then those given in code; a later
 * one of the same name replaces the earlier. A file that cannot be understood is left out with a warning that names it.
 */
export function loadAgents({ configDir, cwd, files = true, given: givenAgents = [], toolNames = [] }: AgentPlaces): LoadedAgents {
  const warnings: string[] = [];
  const doubt = (agent: AgentDefinition) => {
    for (const text of toolListDoubts(agent, toolNames)) warnings.push(`In the agent ${agent.name} (${agent.source}), ${text}.`);
  };
  const agents = new Map(BUILT_IN_AGENTS.map((agent) => [agent.name, agent]));
  const dirs = files ? new Set([join(configDir, 'agents'), join(cwd, '.claude', 'agents')]) : [];
  for (const dir of dirs) {
    for (const file of markdownFiles(dir)) {
      try {
        const { agent, ignored } = parseAgent(readFileSync(file, 'utf8'), file);
        agents.set(agent.name, agent);
        if (ignored.length > 0) warnings.push(`In the agent ${file}, ${ignored.map(withMeant).join(', ')} has no effect here.`);
        doubt(agent);
      } catch (error) {
        warnings.push(`The agent ${file} is left out: ${messageOf(error)}`);
      }
    }
  }
  for (const given of givenAgents) {
    const agent = { ...given, source: 'given in code' };
    agents.set(agent.name, agent);
    doubt(agent);
  }
  return { agents: [...agents.values()], warnings };
}

/** Reads an agent's Markdown file: YAML between `---` lines, then the system prompt. Throws with the field that is wrong. */
export function parseAgent(text: string, source: string): { readonly agent: AgentDefinition; readonly ignored: readonly string[] } {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text);
  if (!match) throw new Error('it must begin with a block between two lines "---" that gives name and description');
  const meta = frontmatter.safeParse(readYaml(match[1] ?? ''));
  if (!meta.success) {
    const issue = meta.error.issues[0];
    throw new Error(`${issue?.path.join('.') || 'the block between "---"'}: ${issue?.message ?? 'not understood'}`);
  }
  const { name, description, tools, disallowedTools, model, ...others } = meta.data;
  const agent = {
    name,
    description,
    prompt: (match[2] ?? '').trim() || `You are the agent ${name}. ${description}`,
    ...(tools === undefined || tools.includes('*') ? {} : { tools }),
    ...(disallowedTools === undefined ? {} : { disallowedTools }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    source,
  };
  return { agent, ignored: Object.keys(others).filter((key) => !FOR_THE_EYE.has(key)) };
}

/** A description is prose: a colon in it is no fault of its writer (`description: Use it so: …`), though YAML takes it for a mapping. */
function readYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const quoted = text.replace(
      /^description:[ \t]+(?!["'|>])(\S.*?)[ \t\r]*$/m,
      (_line, prose: string) => `description: ${JSON.stringify(prose)}`,
    );
    if (quoted === text) throw error;
    return parse(quoted);
  }
}

/** Fields that only say how an agent is shown. */
const FOR_THE_EYE: ReadonlySet<string> = new Set(['color']);

/** A list of tools under another name bounds nothing: that must not look like a detail. */
function withMeant(field: string): string {
  const plain = field.toLowerCase().replaceAll(/[-_]/g, '');
  if (!/^(?:allow|allowed|dis|disallow|disallowed|deny|denied)?tools?$/.test(plain)) return field;
  return `${field} (the field is called ${/^d/.test(plain) ? 'disallowedTools' : 'tools'})`;
}

/** Folders within only sort the files; a name is what the file says (Claude Code docs, subagents). Links to folders are not followed. */
function markdownFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(dir, entry.name);
        return entry.isDirectory() ? markdownFiles(path) : entry.name.endsWith('.md') ? [path] : [];
      });
  } catch {
    return [];
  }
}
