import assert from 'node:assert/strict';
import { parseGitConfig } from '../../../../src/sandbox/git/configFile.ts';
import { runsProgram } from '../../../../src/sandbox/git/executedKeys.ts';

const armed = (text: string): boolean => parseGitConfig(text)?.some(runsProgram) ?? assert.fail(text);

describe('runsProgram()', () => {
  const commands = [
    '[core]\nfsmonitor = x',
    '[core]\nhooksPath = x',
    '[core]\nsshCommand = x',
    '[core]\neditor = x',
    '[core]\npager = x',
    '[core]\naskPass = x',
    '[core]\ngitProxy = x',
    '[core]\nalternateRefsCommand = x',
    '[sequence]\neditor = x',
    '[pager]\nlog = x',
    '[alias]\ns = !x',
    '[diff]\nexternal = x',
    '[diff "a"]\ncommand = x',
    '[diff "a.b"]\ntextconv = x',
    '[merge "a"]\ndriver = x',
    '[mergetool "a"]\ncmd = x',
    '[difftool "a"]\npath = x',
    '[filter "a"]\nclean = x',
    '[filter "a"]\nsmudge = x',
    '[filter "a"]\nprocess = x',
    '[credential]\nhelper = x',
    '[credential "https://a"]\nhelper = x',
    '[gpg]\nprogram = x',
    '[gpg "ssh"]\nprogram = x',
    '[gpg "ssh"]\ndefaultKeyCommand = x',
    '[interactive]\ndiffFilter = x',
    '[uploadpack]\npackObjectsHook = x',
    '[remote "a"]\nuploadpack = x',
    '[remote "a"]\nreceivepack = x',
    '[remote "a"]\nvcs = x',
    '[include]\npath = x',
    '[includeIf "gitdir:/"]\npath = x',
    '[protocol]\nallow = always',
    '[protocol "ext"]\nallow = always',
    '[submodule "a"]\nupdate = !x',
    '[trailer "a"]\ncommand = x',
    '[tar "a"]\ncommand = x',
    '[imap]\ntunnel = x',
    '[browser "a"]\ncmd = x',
    '[guitool "a"]\ncmd = x',
    '[hook "a"]\ncommand = x',
    '[hook "a"]\nevent = pre-commit',
  ];
  for (const text of commands) {
    it(`knows that git obeys ${JSON.stringify(text)}`, () => assert.equal(armed(text), true));
  }

  const harmless = [
    '[core]\nrepositoryformatversion = 0\nfilemode = true\nbare = false\nlogallrefupdates = true',
    '[core]\nfsmonitor = false',
    '[core]\nworktree = ../x',
    '[remote "origin"]\nurl = https://a/b\nfetch = +refs/heads/*:refs/remotes/origin/*',
    '[branch "main"]\nremote = origin\nmerge = refs/heads/main\nrebase = true',
    '[submodule "a"]\nurl = x\nactive = true\nupdate = rebase',
    '[user]\nname = a\nemail = b',
    '[alias]\ns = status',
    '[pager]\nlog = false',
    '[merge]\ntool = vimdiff',
    '[extensions]\nobjectformat = sha256',
    '[credential]\nhelper =',
  ];
  for (const text of harmless) {
    it(`leaves ${JSON.stringify(text)} alone`, () => assert.equal(armed(text), false));
  }
});
