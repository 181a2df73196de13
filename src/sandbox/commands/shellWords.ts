/** First words that are no commands: reserved in bash, dash or zsh, or changing how the rest is taken. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'for', 'while', 'until', 'do', 'done', 'case', 'esac', 'in'],
  ...['select', 'function', 'time', 'coproc', '{', '}', '!', '[[', ']]'],
  ...['foreach', 'end', 'repeat', 'nocorrect', 'noglob', '-', 'always'],
]);

/** Commands of the shells after which names or words of the same script may mean something else. */
export const stateChangers: ReadonlySet<string> = new Set([
  ...['.', 'source', 'eval', 'alias', 'unalias', 'set', 'shopt', 'setopt', 'unsetopt', 'emulate'],
  ...['enable', 'disable', 'hash', 'rehash', 'unhash', 'trap', 'bind', 'bindkey', 'history', 'fc'],
  ...['export', 'declare', 'typeset', 'local', 'readonly', 'integer', 'float', 'unset', 'let', 'getopts'],
  ...['read', 'mapfile', 'readarray', 'vared', 'print', 'printf', 'autoload', 'unfunction', 'functions'],
  ...['zmodload', 'zstyle', 'zparseopts', 'compdef', 'complete', 'nameref', 'private'],
]);
