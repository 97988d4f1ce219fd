import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PermissionEngine, type PermissionEngineOptions } from '../../src/permissions/engine.js';
import { type Explanation, explainCall } from '../../src/permissions/explain.js';
import { loadSettings } from '../../src/settings/load.js';
import type { LoadedSettings, PermissionSettings } from '../../src/settings/types.js';

export type Lists = Pick<PermissionSettings, 'allow' | 'ask' | 'deny' | 'additionalDirectories' | 'defaultMode'>;

/** A home and a project in a directory of their own, with real files and links. */
export class Workspace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-permissions-')));
  readonly home = join(this.root, 'home');
  readonly cwd = join(this.root, 'ws');

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.cwd);
  }

  /** `~/x` is below home, anything else below the project. */
  path(name: string): string {
    return name.startsWith('~/') ? join(this.home, name.slice(2)) : join(this.cwd, name);
  }

  file(name: string, content = 'x\n'): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  link(name: string, target: string): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
    return path;
  }

  settings(name: string, value: unknown): string {
    return this.file(name, `${JSON.stringify(value, null, 2)}\n`);
  }

  load(options: { trusted?: boolean } = {}): LoadedSettings {
    return loadSettings({ home: this.home, cwd: this.cwd, trusted: true, ...options });
  }

  engine(options: Partial<PermissionEngineOptions> = {}): PermissionEngine {
    const { rules, mode, additionalDirectories, outsideReadsBlocked } = this.load();
    return new PermissionEngine({
      rules,
      mode,
      additionalDirectories,
      outsideReadsBlocked,
      cwd: this.cwd,
      home: this.home,
      canAsk: true,
      ...options,
    });
  }

  /** The engine under rules of the project's settings. */
  under(lists: Lists, options: Partial<PermissionEngineOptions> = {}): PermissionEngine {
    this.settings('.claude/settings.json', { permissions: lists });
    return this.engine(options);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const explain = (engine: PermissionEngine, toolName: string, input: Record<string, string | number | boolean>): Explanation =>
  explainCall(engine, { toolName, input });

export const decide = (
  engine: PermissionEngine,
  toolName: string,
  input: Record<string, string | number | boolean>,
): Explanation['decision'] => explain(engine, toolName, input).decision;

export const bash = (engine: PermissionEngine, command: string): Explanation['decision'] => decide(engine, 'Bash', { command });
