import { rulesFrom } from '../../../harness/rules.ts';

/** The rules of which the table of command lines says what they decide. */
export const tableRules = rulesFrom(`
prefix_rule(["git", ["status", "log", "diff"]])
prefix_rule(["git", "push"], "prompt")
prefix_rule(["npm", ["test", "run"]])
prefix_rule(["cargo", "test"])
prefix_rule(["make"])
prefix_rule(["python3", "script.py"])
prefix_rule(["cat"])
prefix_rule(["rm"], "prompt")
prefix_rule(["curl"], "prompt")
prefix_rule([["dd", "mkfs", "shutdown"]], "forbidden")
host_executable("git", ["/usr/bin/git"])
`);
