import assert from 'node:assert/strict';
import { isBannedPrefix } from '../../../../src/sandbox/rules/bannedPrefixes.ts';
import { suggestPrefix } from '../../../../src/sandbox/rules/suggestPrefix.ts';

const banned = `
python|python3|python3.12|python -|python -c|python3 -c|/usr/bin/python3 -u|py|py -3|pythonw|pyw|pypy|pypy3
bash|bash -c|bash -lc|/bin/bash|/bin/bash -lc|sh|sh -c|sh -lc|zsh|zsh -lc|/bin/zsh -lc|dash -c|fish|fish -c|ksh
pwsh|pwsh -Command|pwsh -c|powershell|powershell -Command|powershell.exe|PowerShell.exe -c|cmd|cmd /c|CMD.EXE /k
node|node -e|nodejs -e|bun|bun -e|bun run|deno|deno eval|deno run|tsx|perl|perl -e|ruby|ruby -e|php|php -r|lua
lua -e|julia -e|Rscript|osascript|awk|sed|env|env FOO=1|sudo|sudo -u root|sudo git status|doas|xargs|xargs rm
timeout 5 git push|nohup make|command git|exec ls|eval|source|.|ssh host|parallel|watch ls|time npm test|flock x git
git|git -c|git -C|git --no-pager|git config|git clean -fd|git reset --hard|gh|npm|npm run|npm exec|npx|pnpm run
pnpm dlx|yarn|yarn run|yarn dlx|bunx|uv run|uvx|pipx run|poetry run|cargo|cargo run|go|go run|docker|docker run
docker exec|docker compose|docker compose exec|kubectl|kubectl exec|make|find|curl|wget|tee|tar|rm|rm -rf|/bin/rm
dd|chmod|chmod +x|mv|kill|systemctl|crontab|nix-shell|su -c|busybox|vim|psql|java
`;

const fine = `
git status|git push|git push origin|npm run test|npm test|npm install|cargo test|python3 script.py|node script.js
docker compose up|kubectl get|go test|go build|pytest|tsc|eslint|gh pr view|ls|make test|uv pip|bash script.sh
`;

describe('isBannedPrefix', () => {
  for (const prefix of prefixes(banned)) {
    it(`bans ${prefix}`, () => {
      assert.equal(isBannedPrefix(prefix.split(' ')), true);
    });
  }
  for (const prefix of prefixes(fine)) {
    it(`leaves ${prefix}`, () => {
      assert.equal(isBannedPrefix(prefix.split(' ')), false);
    });
  }
  it('bans nothing at all', () => {
    assert.equal(isBannedPrefix([]), true);
    assert.equal(isBannedPrefix(['']), true);
  });
});

describe('suggestPrefix', () => {
  const guesses: readonly (readonly [command: string, prefix: string | undefined])[] = [
    ['git commit -m x', 'git commit'],
    ['git push origin main', 'git push'],
    ['npm run test:unit -- --watch', 'npm run test:unit'],
    ['docker compose up -d', 'docker compose up'],
    ['cargo test', 'cargo test'],
    ['pytest -x tests', 'pytest'],
    ['./configure --prefix=/x', './configure'],
    ['make', undefined],
    ['make -j4', undefined],
    ['git -c core.pager=x log', undefined],
    ['python3 -c 1', undefined],
    ['sudo apt-get install x', undefined],
    ['rm -rf build', undefined],
    ['curl https://example.org', undefined],
  ];
  for (const [command, prefix] of guesses) {
    it(`guesses ${prefix ?? 'nothing'} for ${command}`, () => {
      assert.equal(suggestPrefix([command.split(' ')])?.join(' '), prefix);
    });
  }

  it('takes what is wanted if every command begins with it and it is not banned', () => {
    const commands = [
      ['git', 'push', 'origin', 'main'],
      ['git', 'push', 'origin', 'x'],
    ];
    assert.deepEqual(suggestPrefix(commands, ['git', 'push', 'origin']), ['git', 'push', 'origin']);
    assert.deepEqual(suggestPrefix(commands, ['git', 'push', 'origin', 'main']), ['git', 'push']);
    assert.deepEqual(suggestPrefix(commands, ['git']), ['git', 'push']);
    assert.deepEqual(suggestPrefix(commands, []), ['git', 'push']);
  });

  it('has none for commands that begin differently, and none for no command', () => {
    assert.equal(
      suggestPrefix([
        ['git', 'push'],
        ['cargo', 'test'],
      ]),
      undefined,
    );
    assert.equal(suggestPrefix([]), undefined);
    assert.equal(suggestPrefix([], ['git', 'push']), undefined);
  });
});

function prefixes(table: string): readonly string[] {
  return table.trim().split(/[|\n]/);
}
