/** What `echo …` or `printf …` prints; null for any other program. */
export function printedBy(argv: readonly string[]): string | null {
  const name = (argv[0] ?? '').split('/').pop();
  const args = argv.slice(1);
  if (name === 'echo') {
    let escapes = false;
    while (/^-[neE]+$/.test(args[0] ?? '')) escapes = (args.shift() ?? '').includes('e') || escapes;
    const text = args.join(' ');
    return escapes ? decodeEscapes(text) : text;
  }
  if (name !== 'printf' || args[0] === '-v') return null;
  if (args[0] === '--') args.shift();
  const format = decodeEscapes(args[0] ?? '');
  const values = args.slice(1);
  const once = () => format.replace(/%([sbq%])/g, (_, kind: string) => (kind === '%' ? '%' : (values.shift() ?? '')));
  let text = once();
  for (let i = 0; values.length > 0 && /%[sbq]/.test(format) && i < 32; i++) text += once();
  return /%[^%\s]/.test(format.replace(/%[sbq%]/g, '')) ? null : text;
}

function decodeEscapes(text: string): string {
  return text.replace(/\\(n|t|r|\\|x[0-9a-fA-F]{1,2}|0?[0-7]{1,3})/g, (_, code: string) => {
    if (code === 'n') return '\n';
    if (code === 't') return '\t';
    if (code === 'r') return '\r';
    if (code === '\\') return '\\';
    return String.fromCharCode(code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8));
  });
}
