const serverFlags = `Server:
  --listen WHERE     ws://IP:PORT (default: ws://127.0.0.1:0), unix:PATH or stdio; prints the address
  --ws-auth MODE     who may connect: capability-token (--ws-token-file FILE or --ws-token-sha256 HEX), or
                     signed-bearer-token (--ws-shared-secret-file FILE, --ws-issuer, --ws-audience,
                     --ws-max-clock-skew-seconds N)
  --concurrent-requests N  of one client, worked on at once (default: 64)
  --detached-seconds N     how long commands run on without their client (default: 80)
  --exit-when-idle N       end after N seconds without clients and commands
  --network MODE     of http/request: on (default), allow-list or off; --allow-host HOST, --deny-host HOST
  --log FILE         append JSON lines: who came, what was started, how it ended`;

const serverExitCodes = '0 ended as it should; 1 could not start.';

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
  cordon exec-server [SERVER]            run commands of clients that speak the exec-server protocol

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

${serverFlags}

Exit codes of apply-patch: 0 applied; 1 refused or failed, and nothing was changed; 2 called wrongly.
Exit codes of exec-server: ${serverExitCodes}
Exit codes of the others: those of the command (128 + n when it died of signal n); 2 for a wrong command line;
125 when the sandbox cannot be set up (nothing was run then); 126 not executable; 127 not found.
`;

/** Of `cordon exec-server` alone. */
export const serverUsage = `cordon exec-server: run commands of clients that speak the exec-server protocol

Usage:
  cordon exec-server                                         on ws://127.0.0.1 and a free port, which it prints
  cordon exec-server --listen unix:$XDG_RUNTIME_DIR/cordon/server
  cordon exec-server --listen stdio                          for one client, until its input ends

${serverFlags}

SIGINT (Ctrl+C), SIGTERM and SIGHUP end it, and what it runs with it.
Exit codes: ${serverExitCodes}
`;
