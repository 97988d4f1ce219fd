/**
 * `npm run api`: writes the extract of the public API, one report for each entry of the package, into etc/api, and says what is amiss
 * with it. A test compares the extracts with the sources, so that no change of the API goes unseen, and lets nothing be amiss.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompilerState, Extractor, ExtractorConfig, type ExtractorLogLevel, type ExtractorMessage } from '@microsoft/api-extractor';

const root = fileURLToPath(new URL('..', import.meta.url));

const manifest: { readonly exports: Readonly<Record<string, string | { readonly types: string }>> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

/** Reports by name (`./testing/node` is `testing-node`), with the declaration file they are made of. */
const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([entry, files]) =>
    typeof files === 'string' ? [] : [[entry === '.' ? 'sixgates' : entry.slice(2).replace('/', '-'), files.types.replace('./dist/', '')]],
  ),
);

export interface ApiReport {
  readonly entry: string;
  /** Whether it differs from the committed one. */
  readonly changed: boolean;
  /** The names that the entry exports. */
  readonly names: ReadonlySet<string>;
  /** Names that its signatures refer to and that it does not export itself. */
  readonly foreign: readonly string[];
  /** Exports, and members of exports, without a docstring; and docstrings that name what is not there. */
  readonly undocumented: readonly string[];
}

/** Read through the machines themselves (`SnapshotFrom<typeof turnMachine>`): each file's inferred type, too long to be written anywhere. */
const INFERRED: ReadonlySet<string> = new Set(['Machine']);

/** Names that some signature refers to and that no entry exports: a user could not write them down. */
export function unnameable(reports: readonly ApiReport[]): readonly string[] {
  return reports.flatMap(({ entry, foreign }) =>
    foreign.filter((name) => !INFERRED.has(name) && !reports.some(({ names }) => names.has(name))).map((name) => `${entry}: ${name}`),
  );
}

/** How the extractor looks at one entry of the declarations. Its temporary folder takes the report as it is made anew. */
const configOf = (entry: string, declarations: string): ExtractorConfig =>
  ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(declarations, ENTRIES[entry] ?? ''),
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
          files: Object.values(ENTRIES).map((file) => join(declarations, file)),
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${entry}.api.md`,
        reportFolder: join(root, 'etc/api'),
        reportTempFolder: join(declarations, 'reports'),
      },
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

/** Makes the report of one entry. With `write` the committed file is replaced, else only compared. */
function reportOf(entry: string, config: ExtractorConfig, compilerState: CompilerState, write: boolean): ApiReport {
  const messages: ExtractorMessage[] = [];
  const { apiReportChanged } = Extractor.invoke(config, {
    compilerState,
    localBuild: write,
    messageCallback: (message) => {
      messages.push(message);
      message.logLevel = 'none' as ExtractorLogLevel;
    },
  });
  return {
    entry,
    changed: apiReportChanged,
    names: exportedNames(readFileSync(config.reportTempFilePath, 'utf8')),
    foreign: messages.filter(({ messageId }) => messageId === 'ae-forgotten-export').map(nameIn),
    undocumented: messages.filter((message) => isBare(message) || message.messageId === 'ae-unresolved-link').map(placeOf),
  };
}

const exportedNames = (report: string): ReadonlySet<string> =>
  new Set(
    [...report.matchAll(/^export (?:declare |abstract |async )*(?:interface|type|class|const|function) (\w+)/gm)].map(
      ([, name]) => name ?? '',
    ),
  );

/** The name that a message is about. Of several of one name the extractor numbers the later ones. */
const nameIn = ({ text }: ExtractorMessage): string => (/"([^"]+)"/.exec(text)?.[1] ?? text).replace(/_\d+$/, '');

/** Without a docstring, and no discriminant either: `readonly type: 'header'` says all there is to say. */
function isBare({ messageId, sourceFilePath, sourceFileLine = 1 }: ExtractorMessage): boolean {
  if (messageId !== 'ae-undocumented' || sourceFilePath === undefined) return messageId === 'ae-undocumented';
  const line = readFileSync(sourceFilePath, 'utf8').split('\n')[sourceFileLine - 1] ?? '';
  return !/^\s*readonly \w+: (["'])[^"']*\1;$/.test(line);
}

const placeOf = (message: ExtractorMessage): string =>
  `${nameIn(message)} (${/(?:src|machines)\/.*$/.exec(message.sourceFilePath ?? '')?.[0] ?? '?'}:${message.sourceFileLine})`;

/** Makes the reports of all entries from sources, as they are now. */
export function reportsOfSources(write: boolean): readonly ApiReport[] {
  const declarations = declarationsDirectory();
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const args = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', declarations];
    execFileSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' });
    mkdirSync(join(root, 'etc/api'), { recursive: true });
    const configs = Object.keys(ENTRIES).map((entry) => [entry, configOf(entry, declarations)] as const);
    const [[, first] = []] = configs;
    if (first === undefined) return [];
    // One look at the types serves all entries.
    const additionalEntryPoints = configs.map(([, { mainEntryPointFilePath }]) => mainEntryPointFilePath);
    const compilerState = CompilerState.create(first, { additionalEntryPoints });
    return configs.map(([entry, config]) => reportOf(entry, config, compilerState, write));
  } finally {
    rmSync(declarations, { recursive: true, force: true });
  }
}

/**
 * A directory for declarations from which the package's dependencies are found. Outside of node_modules: what lies in there counts as
 * somebody else's API. The caller removes it.
 */
function declarationsDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sixgates-declarations-'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

function main(): void {
  const reports = reportsOfSources(true);
  for (const { entry, changed, undocumented } of reports) {
    process.stdout.write(`etc/api/${entry}.api.md${changed ? '  changed' : ''}\n`);
    for (const place of undocumented) process.stdout.write(`  without a docstring: ${place}\n`);
  }
  for (const name of unnameable(reports)) process.stdout.write(`used in a signature, and exported by no entry: ${name}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
