import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-user-')));
const user = join(temp, 'user');

/** Packs the library as it is now and lays it into a package outside the project. Its dependencies are linked, so that no network is needed. */
function installPackedLibrary(): void {
  const stage = join(temp, 'stage');
  mkdirSync(stage);
  // Types are checked elsewhere; here only what runs matters.
  spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')],
    { cwd: root },
  );
  for (const name of ['package.json', 'LICENSE']) cpSync(join(root, name), join(stage, name));
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', temp], { cwd: stage });
  const tarball = readdirSync(temp).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  const installed = join(user, 'node_modules/sixgates');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(temp, tarball), '-C', installed, '--strip-components=1']);
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(user, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(user, 'node_modules', name));
  }
}

function run(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: user, encoding: 'utf8' });
  return { status, stdout, stderr };
}
const sixgates = (...args: readonly string[]) => run(['node_modules/sixgates/dist/src/cli/main.js', ...args]);

beforeAll(() => {
  cpSync(join(root, 'test/fixtures/user-package'), user, { recursive: true });
  installPackedLibrary();
}, 300_000);
afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('a package of a user that installs the library', () => {
  it('finds the holes planted in its settings and hooks, fails, is mended, and passes', () => {
    const before = sixgates('check', '--json', '--junit', 'report.xml', '--coverage', 'coverage.json');
    expect(before.stderr).toBe('');
    expect(before.status).toBe(1);
    const report = JSON.parse(before.stdout);
    const [removed, pushed, secret] = report.properties;
    // A wildcard that covers what stands behind an &&.
    expect(removed).toMatchObject({
      holds: false,
      violation: { problem: 'it runs and nobody was asked', rules: [{ text: 'Bash(bash -c *)', line: 3 }] },
    });
    expect(removed.violation.call.text).toBe("Bash(bash -c 'rm -rf build')");
    // A hook that answers allow too early.
    expect(pushed).toMatchObject({ holds: false, violation: { call: { text: 'Bash(git push origin main)' } } });
    expect(pushed.violation.path).toContain('says allow › runs');
    // A deny that means nothing.
    expect(secret).toMatchObject({ holds: false });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ kind: 'inert', severity: 'hole', subject: 'deny Write(/secrets/**)', line: 4 }),
    );
    expect(readFileSync(join(user, 'report.xml'), 'utf8')).toMatch(/<testsuite name="sixgates check" tests="\d+" failures="[1-9]/);
    expect(existsSync(join(user, 'coverage.json'))).toBe(true);

    expect(removed.violation.rules[0].file).toBe(join(user, '.claude/settings.json'));

    cpSync(join(user, 'mended'), user, { recursive: true });
    const after = sixgates('check');
    expect(after.stdout).toContain('✓ never Bash(git push *) runs unless asked');
    expect(after.stdout).toContain('3 of 3 properties hold');
    expect(after.status).toBe(0);
  }, 300_000);

  it('tests its paths with node:test', () => {
    cpSync(join(user, 'mended'), user, { recursive: true });
    const { status, stdout } = run(['--test', 'test/paths.test.mjs']);
    expect(stdout).toMatch(/# pass [1-9]/);
    expect(status).toBe(0);
  }, 300_000);

  it('draws a machine with what its first check has reached', () => {
    const mermaid = sixgates('diagram', 'permission', '--coverage', 'coverage.json');
    expect(mermaid.stdout).toMatch(/^stateDiagram-v2[\s\S]*class permission_denied reached/);
    expect(mermaid.stdout).toContain('✗');
    const svg = sixgates('diagram', 'toolCall', '--format', 'svg');
    expect(svg.stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  }, 300_000);

  it('is told in words what is wrong with a policy', () => {
    const missing = sixgates('check', 'no-such-policy.json');
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('does not exist')]);
    expect(sixgates('diagram', 'permision').stderr).toContain('Did you mean permission?');
  }, 300_000);
});
