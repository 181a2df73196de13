import assert from 'node:assert/strict';
import * as z from 'zod';
import { Emitter } from '../../../../src/base/event.ts';
import { silentLog } from '../../../../src/base/log.ts';
import type { Environment, EnvironmentState } from '../../../../src/runtime/environments/environment.ts';
import { Environments } from '../../../../src/runtime/environments/environments.ts';
import { checked, environmentsJsonSchema } from '../../../../src/runtime/environments/providers.ts';
import type { FoundProcess, StartParams } from '../../../../src/runtime/exec/execBackend.ts';

class FakeEnvironment implements Environment {
  readonly name: string;
  readonly address: string;
  readonly didChangeState = new Emitter<EnvironmentState>();
  readonly onDidChangeState = this.didChangeState.event;
  readonly state: EnvironmentState = { kind: 'idle' };
  readonly started: StartParams[] = [];
  isDisposed = false;
  readonly backend = {
    start: async (params: StartParams) => {
      this.started.push(params);
      return { ok: false, error: { kind: 'spawn-failed', message: this.name, hint: '' } } as const;
    },
  };

  constructor(name: string, address: string) {
    this.name = name;
    this.address = address;
  }

  async connect(): Promise<never> {
    throw new Error('not in this test');
  }

  prewarm(): void {}

  dispose(): void {
    this.isDisposed = true;
  }
}

const provider = checked({
  type: 'box',
  settings: z.strictObject({
    where: z
      .string()
      .refine((text) => !text.startsWith('-'), 'must not begin with "-"')
      .describe('Where it is.'),
    port: z.int().optional(),
  }),
  open: (name, { where }) => new FakeEnvironment(name, where),
});

describe('the environments', () => {
  let settings: unknown;
  let local: FakeEnvironment;
  let environments: Environments;

  beforeEach(() => {
    settings = undefined;
    local = new FakeEnvironment('local', 'this machine');
    environments = new Environments({
      local,
      services: { log: silentLog, bundleFolder: '/dist', version: '1' },
      settings: () => settings,
      providers: [provider],
    });
  });
  afterEach(() => environments.dispose());

  const define = (value: unknown): void => {
    settings = value;
    environments.refresh();
  };
  const problemWith = (name: string): string => {
    const { message, hint } = environments.problems.get(name) ?? {};
    return `${message} ${hint}`;
  };

  it('always have this machine, first', () => {
    define({ far: { type: 'box', where: 'there' } });
    assert.deepEqual(
      environments.list().map(({ name, address }) => [name, address]),
      [
        ['local', 'this machine'],
        ['far', 'there'],
      ],
    );
  });

  it('start a command where it belongs, and nowhere when there is no such place', async () => {
    define({ far: { type: 'box', where: 'there' } });
    const params = { argv: ['true'], cwd: '/', env: {} } as unknown as StartParams;
    await environments.start(params);
    await environments.start({ ...params, environment: 'far' });
    const refused = await environments.start({ ...params, environment: 'nowhere' });
    assert.equal(local.started.length, 1);
    const far = environments.list()[1] as FakeEnvironment;
    assert.equal(far.started.length, 1);
    assert.ok(!refused.ok);
    assert.match(`${refused.error.message} ${refused.error.hint}`, /"nowhere".*one of local, far/);
  });

  it('keep what did not change, and dispose what changed or went', () => {
    define({
      a: { type: 'box', where: '1' },
      b: { type: 'box', where: '2' },
      c: { type: 'box', where: '3' },
    });
    const [, a, b, c] = environments.list() as FakeEnvironment[];
    define({ a: { type: 'box', where: '1' }, b: { type: 'box', where: 'x' } });
    const after = environments.list();
    assert.equal(after[1], a);
    assert.notEqual(after[2], b);
    assert.deepEqual([a?.isDisposed, b?.isDisposed, c?.isDisposed], [false, true, true]);
  });

  it('find what is left in each, whatever comes of the others', async () => {
    define({ far: { type: 'box', where: 'there' }, gone: { type: 'box', where: 'nowhere' } });
    const [, far, gone] = environments.list() as FakeEnvironment[];
    const left = { label: 'x' } as FoundProcess;
    Object.assign(far?.backend ?? {}, { found: async () => [left] });
    Object.assign(gone?.backend ?? {}, { found: () => Promise.reject(new Error('the connection broke')) });
    assert.deepEqual(await environments.found(), [{ ...left, environment: 'far' }]);
  });

  it('tell when one is in another state', () => {
    define({ a: { type: 'box', where: '1' } });
    let changes = 0;
    environments.onDidChange(() => changes++);
    (environments.list()[1] as FakeEnvironment).didChangeState.fire({ kind: 'connecting' });
    local.didChangeState.fire({ kind: 'connecting' });
    assert.equal(changes, 2);
  });

  for (const [title, value, name, expected] of [
    ['not an object', [], '', /cordon\.environments is \[\].*an object/],
    [
      'the name of this machine',
      { local: { type: 'box', where: 'x' } },
      'local',
      /environments\.local.*another name/,
    ],
    ['no object', { a: 'box' }, 'a', /environments\.a is "box".*an object with a type \(box\)/],
    ['no type', { a: { where: 'x' } }, 'a', /environments\.a\.type is missing.*one of box/],
    ['an unknown type', { a: { type: 'bax' } }, 'a', /environments\.a\.type is "bax".*one of box/],
    [
      'a missing field',
      { a: { type: 'box' } },
      'a',
      /a\.where is missing in the settings, but must be a string\. Add cordon/,
    ],
    [
      'a field with rules of its own',
      { a: { type: 'box', where: '-x' } },
      'a',
      /a\.where is "-x" in the settings, but must not begin with "-"\. Correct cordon/,
    ],
    ['a wrong field', { a: { type: 'box', where: 'x', port: 'y' } }, 'a', /environments\.a\.port is "y"/],
    ['an unknown field', { a: { type: 'box', where: 'x', prot: 1 } }, 'a', /environments\.a\.prot.*unknown/],
  ] as const) {
    it(`name field, value and fix: ${title}`, () => {
      define(value);
      assert.match(problemWith(name), expected);
      const found = environments.get(name === 'local' ? 'local' : 'a');
      assert.equal(found.ok, name === 'local');
    });
  }

  it('give each type a shape in the manifest', () => {
    assert.deepEqual(environmentsJsonSchema([provider]), {
      type: 'object',
      additionalProperties: {
        type: 'object',
        anyOf: [
          {
            type: 'object',
            additionalProperties: false,
            properties: {
              type: { type: 'string', enum: ['box'] },
              where: { type: 'string', description: 'Where it is.' },
              port: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER, minimum: Number.MIN_SAFE_INTEGER },
            },
            required: ['type', 'where'],
          },
        ],
      },
    });
  });
});
