/**
 * `npm run api`: writes the extract of the public API, one report for each entry of the package, into etc/api. A test compares them
 * with the sources, so that no change of the API goes unseen.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, type ExtractorLogLevel, type ExtractorMessage } from '@microsoft/api-extractor';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Reports by name, with the declaration file they are made of. */
export const ENTRIES: Readonly<Record<string, string>> = {
  sixgates: 'src/index.d.ts',
  machines: 'src/machines.d.ts',
  testing: 'src/testing/index.d.ts',
  inspect: 'src/inspect/index.d.ts',
  restate: 'src/durable/index.d.ts',
};

export interface ApiReport {
  readonly entry: string;
  readonly changed: boolean;
  /** What the extractor has to say: names without docs, types that are used and not exported. */
  readonly messages: readonly ExtractorMessage[];
}

/**
 * Makes the report of one entry. With `write` the committed file is replaced, else only compared. `declarations` must lie outside of
 * node_modules: what lies in there counts as somebody else's API.
 */
export function reportOf(entry: string, declarations: string, write: boolean): ApiReport {
  const messages: ExtractorMessage[] = [];
  const temporary = mkdtempSync(join(tmpdir(), 'sixgates-api-'));
  const file = ENTRIES[entry];
  if (file === undefined) throw new Error(`There is no entry ${entry}.`);
  mkdirSync(join(root, 'etc/api'), { recursive: true });
  try {
    const config = ExtractorConfig.prepare({
      configObjectFullPath: join(root, 'api-extractor.json'),
      packageJsonFullPath: join(root, 'package.json'),
      configObject: {
        projectFolder: root,
        mainEntryPointFilePath: join(declarations, file),
        compiler: {
          overrideTsconfig: {
            compilerOptions: {
              target: 'ES2022',
              lib: ['ES2023'],
              module: 'NodeNext',
              moduleResolution: 'NodeNext',
              types: ['node'],
              strict: true,
              skipLibCheck: true,
            },
            files: [join(declarations, file)],
          },
        },
        apiReport: { enabled: true, reportFileName: `${entry}.api.md`, reportFolder: join(root, 'etc/api'), reportTempFolder: temporary },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: {
          compilerMessageReporting: { default: { logLevel: 'warning' as ExtractorLogLevel } },
          extractorMessageReporting: { default: { logLevel: 'none' as ExtractorLogLevel } },
          tsdocMessageReporting: { default: { logLevel: 'none' as ExtractorLogLevel } },
        },
      },
    });
    const result = Extractor.invoke(config, {
      localBuild: write,
      messageCallback: (message) => {
        messages.push(message);
        message.logLevel = 'none' as ExtractorLogLevel;
      },
    });
    return { entry, changed: result.apiReportChanged, messages };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A directory for declarations from which the package's dependencies are found. The caller removes it. */
export function declarationsDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sixgates-declarations-'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

function main(): void {
  const declarations = declarationsDirectory();
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const args = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', declarations];
    execFileSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' });
    for (const entry of Object.keys(ENTRIES)) {
      const { changed } = reportOf(entry, declarations, true);
      process.stdout.write(`etc/api/${entry}.api.md${changed ? '  changed' : ''}\n`);
    }
  } finally {
    rmSync(declarations, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
