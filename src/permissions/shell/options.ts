/** Options of well-known programs that take a value and may stand before the subcommand. */
const VALUED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: '-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source',
    npm: '--prefix -C -w --workspace --loglevel --registry --userconfig --cache',
    pnpm: '-C --dir -F --filter --loglevel',
    yarn: '--cwd --registry --cache-folder',
    docker: '--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey',
    podman: '-c --connection --url --identity --log-level --root --runroot',
    kubectl: '-n --namespace --context --kubeconfig --cluster --user -s --server --token --as --as-group --request-timeout -v',
    helm: '-n --namespace --kube-context --kubeconfig --registry-config',
    cargo: '--color --config -Z -C --manifest-path',
    go: '-C',
    gh: '-R --repo --hostname',
    aws: '--profile --region --endpoint-url --output --query --ca-bundle --cli-read-timeout',
    gcloud: '--project --account --configuration --verbosity --format',
    az: '--subscription -o --output --query',
    terraform: '',
    make: '-C -f -I -j -l -o -W',
    pip: '--proxy --log --timeout --retries --cert --cache-dir --python',
    systemctl: '-H --host -M --machine -t --type -p --property',
    poetry: '-C --directory -P --project',
    uv: '--directory --project --config-file --cache-dir --python',
  }).map(([name, options]) => [name, new Set(options.split(' '))]),
);

/** Whether an option before the subcommand takes the word after it. */
export const takesValue = (program: string, option: string): boolean => VALUED.get(program)?.has(option) === true;

const MAX_VARIANTS = 24;

/**
 * `args` without the options before the first operand. For a program whose options are not known, an option may or may not take
 * the word after it: both readings.
 */
export function dropOptions(program: string, args: readonly string[]): string[][] {
  const valued = VALUED.get(program);
  const variants: string[][] = [];
  visit(0);
  return variants;

  function visit(from: number): void {
    if (variants.length >= MAX_VARIANTS) return;
    const arg = args[from];
    if (arg === undefined || !/^[-+]./.test(arg)) {
      if (from > 0) variants.push(args.slice(from));
      return;
    }
    if (arg === '--') {
      variants.push(args.slice(from + 1));
      return;
    }
    if (valued?.has(arg) === true) {
      visit(from + 2);
      return;
    }
    visit(from + 1);
    if (valued === undefined && !arg.includes('=') && from + 1 < args.length && !/^[-+]/.test(args[from + 1] ?? '')) visit(from + 2);
  }
}
