import assert from 'node:assert/strict';
import { createRedactor, redact } from '../../../../src/runtime/audit/redact.ts';
import { Random } from '../../../harness/random.ts';

const none = {};

describe('redact()', () => {
  const found: readonly (readonly [text: string, expected: string])[] = [
    ['X_TOKEN=abc run', 'X_TOKEN=[redacted] run'],
    [`export DB_PASSWORD='a b'c"d e" && run`, 'export DB_PASSWORD=[redacted] && run'],
    [
      'bash -c "export DB_PASSWORD=abc; echo done" && echo "x"',
      'bash -c "export DB_PASSWORD=[redacted]; echo done" && echo "x"',
    ],
    ['sh -c "mysql --password=\\"two words\\" -e 1"', 'sh -c "mysql --password=[redacted] -e 1"'],
    [`sh -c 'mysql -psecret shop'`, `sh -c 'mysql -p[redacted] shop'`],
    ['login --password abc --user x', 'login --password [redacted] --user x'],
    ['login --pass"word" a"b"c', 'login --pass"word" [redacted]'],
    ['login --password \\\n abc x', 'login --password \\\n [redacted] x'],
    ['login --api-key=abc --x', 'login --api-key=[redacted] --x'],
    ['X_TO"KEN"=a\'b\'c run', 'X_TO"KEN"=[redacted] run'],
    ['sshpass -p abc ssh -p 22 h', 'sshpass -p [redacted] ssh -p [redacted] h'],
    ['docker login -u me -p abc r', 'docker login -u me -p [redacted] r'],
    ['curl -su me:abc https://h', 'curl -su me:[redacted] https://h'],
    ['curl -H "Authorization: Bearer abc def" h', 'curl -H "Authorization: Bearer [redacted]" h'],
    [`curl -H 'Cookie: a=b; c=d' h`, `curl -H 'Cookie: [redacted]' h`],
    ['curl -H X-Api-Key:abc h', 'curl -H X-Api-Key:[redacted] h'],
    ['curl -H Authorization:\\ Bearer\\ abc h', 'curl -H Authorization:\\ Bearer\\ [redacted] h'],
    [`curl -d '{"password": "a b", "user": "x"}' h`, `curl -d '{"password": [redacted] "user": "x"}' h`],
    ['git clone https://me:abc@h/r', 'git clone https://me:[redacted]@h/r'],
    ['git clone https://0123456789abcdef0@h/r', 'git clone https://[redacted]@h/r'],
    [
      'curl "https://h/?a=1&access_token=abc&key=def"',
      'curl "https://h/?a=1&access_token=[redacted]&key=[redacted]"',
    ],
    ['npm config set //r/:_authToken abc', 'npm config set //r/:_authToken [redacted]'],
    ['setenv X_TOKEN abc', 'setenv X_TOKEN [redacted]'],
    ['$env:X_TOKEN = "a b"; run', '$env:X_TOKEN = [redacted]; run'],
    ['echo abc | docker login --password-stdin', 'echo [redacted]| docker login --password-stdin'],
    ['docker login --password-stdin <<E\nabc\nE\nls', 'docker login --password-stdin <<E\n[redacted]\nE\nls'],
    ['sudo -S ls <<< abc', 'sudo -S ls <<< [redacted]'],
    [
      `cat > .env <<E\nA=1\nPASSWORD=it's\nB=2\nE\nls`,
      'cat > .env <<E\nA=1\nPASSWORD=[redacted]\nB=2\nE\nls',
    ],
    ['cat > c.yml <<E\npassword: two words\nuser: x\nE', 'cat > c.yml <<E\npassword: [redacted]\nuser: x\nE'],
    ['machine h login me password abc', 'machine h login me password [redacted]'],
    ['openssl enc -pass pass:abc -in f', 'openssl enc -pass [redacted] -in f'],
    [
      'echo "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----" > k',
      'echo "[redacted]" > k',
    ],
    ['echo -----BEGIN PRIVATE KEY----- cut', 'echo [redacted]'],
  ];
  for (const [text, expected] of found) {
    it(`finds the secret in ${JSON.stringify(text)}`, () => {
      assert.equal(redact(text, none), expected);
    });
  }

  const harmless = [
    'npm test',
    'mkdir -p a/b && ssh -p 22 host && cp -p x y && docker run -p 80:80 --user 1000:1000 x',
    'GITHUB_TOKEN= gh auth status',
    'X_TOKEN=$Y gh pr list',
    'X_TOKEN="$(cat file)" gh pr list',
    'ssh -o StrictHostKeyChecking=no h',
    'sort --key=2 x | head --lines=5',
    'run --max-tokens=5 --password-stdin --token-file /x --tokenizer y',
    'git clone ssh://git@h/r && git clone https://me@h/r',
    'mysql --password --user root',
    'git commit -m "the token: it works"'.replace('token: ', 'token '),
    'PWD=/x OLDPWD=/y pwd',
    'kubectl get secret x -o json',
    'task-runner disk-usage-of-the-machine',
  ];
  for (const text of harmless) {
    it(`leaves ${JSON.stringify(text)} alone`, () => {
      assert.equal(redact(text, none), text);
    });
  }

  it('finds values of secret variables wherever they are spelled out, however they are quoted', () => {
    const environment = { MY_TOKEN: `it's "one" & two`, A_KEY: 'x', HOME: '/home/ann', EMPTY_SECRET: '' };
    const redactor = createRedactor(environment);
    assert.equal(redactor(`echo 'it'\\''s "one" & two' x`), `echo '[redacted]' x`);
    assert.equal(redactor(`echo "it's \\"one\\" & two"`), `echo "[redacted]"`);
    assert.equal(redactor(`curl h/?q=${encodeURIComponent(environment.MY_TOKEN)}`), 'curl h/?q=[redacted]');
    assert.equal(redactor('ls /home/ann x'), 'ls /home/ann x');
  });

  it('finds each line of a value with several', () => {
    const environment = { DEPLOY_KEY: 'first line of the key\nsecond line of the key\n' };
    assert.equal(redact('echo "second line of the key" x', environment), 'echo "[redacted]" x');
  });

  it('finds planted secrets in every place of random command lines', () => {
    const random = new Random(5);
    const failures = Array.from({ length: 2_000 }, () => planted(random)).filter(
      ({ text, secret, environment }) => bare(redact(text, environment)).includes(secret),
    );
    assert.deepEqual(failures.slice(0, 5), []);
  });

  it('would show them otherwise', () => {
    const random = new Random(5);
    const lines = Array.from({ length: 2_000 }, () => planted(random));
    assert.deepEqual(
      lines.filter(({ text, secret }) => !bare(text).includes(secret)),
      [],
    );
  });
});

interface Planted {
  readonly text: string;
  readonly secret: string;
  readonly environment: Readonly<Record<string, string>>;
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A command line with a secret in it, known by its place, by its looks, or by the environment. */
function planted(random: Random): Planted {
  const characters = (count: number): string =>
    Array.from({ length: count }, () => random.pick([...letters])).join('');
  const opaque = characters(random.integer(8, 40));
  const kind = random.pick(['place', 'looks', 'environment'] as const);
  const secret =
    kind !== 'looks'
      ? opaque
      : random.pick([
          `ghp_${characters(36)}`,
          `github_pat_${characters(22)}_${characters(59)}`,
          `glpat-${characters(20)}`,
          `AKIA${characters(16).toUpperCase()}`,
          `xoxb-${characters(12)}-${characters(24)}`,
          `npm_${characters(36)}`,
          `AIza${characters(35)}`,
          `sk-${characters(48)}`,
          `sk_live_${characters(24)}`,
          `eyJ${characters(20)}.eyJ${characters(30)}.${characters(43)}`,
        ]);
  const word = quoted(secret, random);
  const place = random.pick(kind === 'place' ? tellingPlaces : [...tellingPlaces, ...anyPlaces])(
    word,
    secret,
  );
  const text = random.pick(surroundings)(place);
  return { text, secret, environment: kind === 'environment' ? { THE_SECRET: secret } : {} };
}

/** The same word for a shell, in other quotes. */
function quoted(secret: string, random: Random): string {
  const at = random.integer(1, secret.length - 1);
  const [head, tail] = [secret.slice(0, at), secret.slice(at)];
  return random.pick([
    secret,
    `"${secret}"`,
    `'${secret}'`,
    `${head}"${tail}"`,
    `'${head}'"${tail}"`,
    `"${head}"'${tail}'`,
    `${head}\\${tail}`,
    `${head}\\\n${tail}`,
    `${head}''${tail}`,
  ]);
}

type Place = (word: string, secret: string) => string;

const tellingPlaces: readonly Place[] = [
  (word) => `GITHUB_TOKEN=${word} gh pr list`,
  (word) => `export NPM_SECRET=${word}`,
  (word) => `docker run -e API_KEY=${word} image`,
  (word) => `tool --password ${word} --verbose`,
  (word) => `tool --auth-token=${word}`,
  (word) => `sshpass -p ${word} ssh host`,
  (word) => `mysql -u root -p${word} shop`,
  (word) => `curl -u ann:${word} https://host/`,
  (_, secret) => `curl -H "Authorization: Bearer ${secret}" https://host/`,
  (_, secret) => `curl -H 'X-Api-Key: ${secret}' https://host/`,
  (_, secret) => `git push https://ann:${secret}@host/repository`,
  (_, secret) => `wget "https://host/file?access_token=${secret}&x=1"`,
  (_, secret) => `cat > .env <<'END'\nNAME=x\nDB_PASSWORD=${secret}\nEND`,
  (_, secret) => `cat > c.json <<END\n{ "client_secret": "${secret}", "id": 1 }\nEND`,
  (_, secret) => `cat > c.yml <<END\n  token: ${secret}\nEND`,
  (word) => `echo ${word} | gh auth login --with-token`,
  (word) => `echo -n ${word} | docker login --username x --password-stdin host`,
];

/** Only looks or a known value give it away here. */
const anyPlaces: readonly Place[] = [
  (word) => `echo ${word}`,
  (word) => `tool ${word} other`,
  (word) => `grep -r ${word} src/`,
  (word) => `touch /tmp/${word}/file`,
  (word) => `tool --name=${word}`,
  (_, secret) => `cat <<END\nsome text ${secret} more\nEND`,
  (_, secret) => `echo x > /tmp/${secret}.txt`,
  (_, secret) => `echo "hello ${secret}!" # comment`,
];

const surroundings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `cd /w && ${text}`,
  (text) => `${text}; echo "done, isn't it"`,
  (text) => `(${text}) 2>&1 | tail -5`,
  (text) => `if true; then\n${text}\nfi`,
  (text) => `bash -c '${text.replaceAll("'", `'\\''`)}'`,
  (text) => `bash -lc "${text.replaceAll(/["\\$]/g, '\\$&')}"`,
];

function bare(text: string): string {
  return text.replaceAll(/\\\n|["'\\]/g, '');
}
