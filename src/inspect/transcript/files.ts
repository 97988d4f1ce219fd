import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isJsonObject, parseJson } from '../../json.js';
import { stringAt, type TranscriptFile } from './lines.js';

/** Files of subagents that are read with one transcript. */
const MOST_FILES = 1000;
/** The first line of a subagent's file names its session. */
const HEAD_BYTES = 64 * 1024;
const AGENT_FILE = /^agent-(.+)\.jsonl$/;

/**
 * The files of a session's subagents: those in `<session>/subagents/` (folders in it included), and, as older versions had it, those that
 * lie beside the transcript and name its session. Source: Claude Code docs, "Explore the .claude directory".
 */
export function subagentFiles(path: string): TranscriptFile[] {
  const session = basename(path).replace(/\.jsonl(?:\.gz)?$/, '');
  const own = join(dirname(path), session, 'subagents');
  const beside = namesIn(dirname(path))
    .filter((name) => AGENT_FILE.test(name) && name !== basename(path) && sessionOf(join(dirname(path), name)) === session)
    .map((name) => join(dirname(path), name));
  const inside = namesIn(own, true)
    .filter((name) => AGENT_FILE.test(basename(name)))
    .map((name) => join(own, name));
  return [...inside, ...beside].slice(0, MOST_FILES).flatMap((file) => read(file, dirname(path)));
}

function read(file: string, from: string): TranscriptFile[] {
  const sidecar = parseJson(textOf(file.replace(/\.jsonl$/, '.meta.json')));
  const agentId = AGENT_FILE.exec(basename(file))?.[1];
  const toolUseId = stringAt(sidecar, 'toolUseId');
  try {
    return [
      {
        name: file.slice(from.length + 1),
        bytes: readFileSync(file),
        ...(agentId === undefined ? {} : { agentId }),
        ...(toolUseId === undefined ? {} : { toolUseId }),
      },
    ];
  } catch {
    // Gone since the directory was read.
    return [];
  }
}

/** In a fixed order; a directory that is not there holds nothing. */
function namesIn(dir: string, recursive = false): string[] {
  try {
    return readdirSync(dir, { recursive, encoding: 'utf8' }).sort();
  } catch {
    return [];
  }
}

function sessionOf(file: string): string | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(Math.min(HEAD_BYTES, statSync(file).size));
      const head = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0));
      const first = parseJson(head.split('\n', 1)[0] ?? '');
      // A first line longer than the head is cut; its session still stands at its beginning.
      return isJsonObject(first) ? stringAt(first, 'sessionId') : /"sessionId":"([^"]+)"/.exec(head)?.[1];
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
