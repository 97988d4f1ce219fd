/** Variables that change no code that a program runs. */
export const SAFE_VARIABLES: ReadonlySet<string> = new Set(
  (
    'NODE_ENV RUST_BACKTRACE RUST_LOG GOOS GOARCH CGO_ENABLED GO111MODULE GOEXPERIMENT PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE ' +
    'PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_DEBUG LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME LC_COLLATE LC_MESSAGES LC_NUMERIC CHARSET TERM ' +
    'COLORTERM NO_COLOR FORCE_COLOR TZ LS_COLORS LSCOLORS GREP_COLOR GREP_COLORS GCC_COLORS TIME_STYLE BLOCK_SIZE BLOCKSIZE'
  ).split(' '),
);

/** Names, or parts of names, that the shell or a program that only reads looks at: setting one changes what the next command does. */
const MEANS_SOMETHING =
  /PATH|HOME|PWD|IFS|ENV|SHELL|BASH|ZDOTDIR|PROMPT|^PS\d|HIST|GLOB|OPT|NULLCMD|PAGER|EDITOR|VISUAL|BROWSER|TERM|CONF|COMMAND|^(LD|DYLD|GIT|SSH|DOCKER|NODE|NPM|PYTHON|PERL|RUBY|JAVA|LESS|LS|GREP|RIPGREP|JQ|MAN|MALLOC|TMP|TEMP|MAIL|LC|LANG|NLS|LOC|GCONV)|^(RANDOM|SECONDS|LINENO|COLUMNS|LINES|UID|EUID|PPID|DIRSTACK|FUNCNEST|TIMEFORMAT|TMOUT|FIGNORE|REPORT)/;

/** zsh ties these to the variables in capitals, or gives them a meaning of their own. */
const ZSH = new Set('path cdpath fpath manpath mailpath module_path fignore argv status prompt psvar signals options'.split(' '));

/**
 * A variable that only the text around it reads, as far as its name tells: alone, `x=1` changes nothing outside the shell. An exported
 * one of the same name would reach the programs that follow, so that no rule covers these (see `coverage`).
 */
export function staysInShell(name: string): boolean {
  return SAFE_VARIABLES.has(name) || (!MEANS_SOMETHING.test(name.toUpperCase()) && !ZSH.has(name) && !/_proxy$/i.test(name));
}
