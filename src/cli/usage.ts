export const usage = `cordon: run commands under Cordon's sandbox and apply patches, outside the editor

Usage:
  cordon sandbox [POLICY] -- ARGV…       run ARGV with stdio, signals and exit code passed through
  cordon sandbox [POLICY] --check        try every promise of the sandbox here and print what held; 1 when
                                         one did not
  cordon exec [POLICY] [EXEC] COMMAND    run a shell command as the exec tools do, and print their answers
  cordon exec [POLICY] --tools           read tool calls from stdin, one JSON object a line:
                                         {"tool":"exec_command","input":{"cmd":"ls"}}; print an answer a line
  cordon apply-patch [PATCH]             apply a patch, from the argument or stdin, in the current folder:
                                         all of it or nothing, without a sandbox of its own
  cordon audit [AUDIT]                   print what was decided about commands and how they ended, newest first

Policy:
  --root DIR         the folder that the policy is for (default: the current folder)
  --mode MODE        read-only, workspace-write (default) or danger-full-access
  --network MODE     off (default), allow-list or on
  --tmp MODE         private (default): an empty /tmp of its own; shared: the machine's
  --writable DIR     a further writable folder; may be repeated
  --file PATH=ACCESS write, read or none for a path (relative ones: to the root), a place such as :home, or none
                     for a glob; the deepest path wins; may be repeated
  --host HOST[=deny] a host for the network mode allow-list: a domain, *.domain, an address or a range, with
                     :PORT if only that; may be repeated
  --git MODE         .git is read-only, writable, or writable for commands that run git (commands)
  --caches MODE      caches of package managers: off, private (to this root) or shared (your own)

Exec:
  --tty              give the command a terminal
  --output FORM      screen or stream
  --max-output-tokens N

Audit:
  --folder DIR       where the log is (default: that of this program; the editor names its own)
  --root DIR         entries of this folder only
  --decision WORD    allowed, asked, refused, or denied: what the sandbox stopped
  --command TEXT     entries with TEXT in the command line
  --json             a JSON object a line

Exit codes of apply-patch: 0 applied; 1 refused or failed, and nothing was changed; 2 called wrongly.
Exit codes of the others: those of the command (128 + n when it died of signal n); 2 for a wrong command line;
125 when the sandbox cannot be set up (nothing was run then); 126 not executable; 127 not found.
`;
