import { describe, expect, test } from 'bun:test'
import { exitOfStatus, expectData, replyFailure, unreadable } from '../../cli/failure'
import { allCommands } from '../../cli/registry'
import { ERROR_PAGES } from '../../src/pages/reference/error-pages'
import { cli, fakeIo } from '../support/io'

describe('a failure', () => {
  test('is lines on stderr with stdout empty', async () => {
    const { exitCode, stdout, stderr } = await cli('keys lst')
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe(
      'error: There is no command "svc-admin keys lst". Did you mean list?\nfix:   svc-admin keys --help\n',
    )
  })

  test.each([
    ['keys lst', 'fix:   ./svc-admin keys --help'],
    ['help error storage_unavailable', 'fix     ./svc-admin doctor database disk'],
    ['keys --help', 'Usage:  ./svc-admin keys VERB [flags]'],
    ['cheat keys', '\n./svc-admin keys list\n'],
    ['completion bash', 'source <(svc-admin completion bash)'],
  ])('and help name the program as the user typed it: %s', async (line, expected) => {
    const { stdout, stderr } = await cli(line, { env: { SVC_ADMIN_AS: './svc-admin' } })
    expect(stdout + stderr).toContain(expected)
    const quoted = await cli(line, { env: { SVC_ADMIN_AS: '/my folder/svc-admin' } })
    expect(quoted.stdout + quoted.stderr).not.toContain('folder')
  })

  test.each([[['--json']], [['-o', 'json']], [['-o', 'yaml']]])('is the envelope with %j', async (format) => {
    const { exitCode, stdout, stderr } = await cli([...format, 'help', 'nothing'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      error: { message: 'There is no topic "nothing".', type: 'cli_error', code: 'usage', request_id: null },
      exit_code: 2,
      hint: 'svc-admin help',
    })
  })

  test('is JSON even when the command line itself cannot be read', async () => {
    const { stderr } = await cli('keys lst --json')
    expect(JSON.parse(stderr)).toMatchObject({ exit_code: 2, error: { code: 'usage' } })
  })

  test('is broken between words at the width of the terminal, and guesses the field that was meant', async () => {
    const { stderr } = await cli('commands --fields comand', { io: fakeIo({ width: 40 }), env: { NO_COLOR: '1' } })
    expect(stderr.split('\n')).toEqual([
      'error: There is no field "comand". Did',
      '       you mean command? Fields:',
      '       command, impact, summary.',
      '',
    ])
    expect((await cli('commands --fields comand')).stderr.trim().split('\n')).toHaveLength(1)
  })

  test('has colour on a terminal only, and not when NO_COLOR is set', async () => {
    const onTty = await cli('nonsense', { io: fakeIo({ width: 80 }) })
    const muted = await cli('nonsense', { io: fakeIo({ width: 80 }), env: { NO_COLOR: '1' } })
    const piped = await cli('nonsense')
    expect(onTty.stderr).toContain('\u001b[91merror:')
    expect([muted.stderr, piped.stderr].join('')).not.toContain('\u001b')
  })

  test('of something unforeseen is one sentence, and its stack only with --debug', async () => {
    const open = () => Promise.reject(new Error('the roof is on fire'))
    const plain = await cli('status', { open })
    const debug = await cli('status --debug', { open })
    expect(plain).toMatchObject({ exitCode: 1, stdout: '' })
    expect(plain.stderr).toStartWith('error: the roof is on fire')
    expect(plain.stderr).not.toContain('at ')
    expect(debug.stderr).toContain('    at ')
  })
})

describe("the server's refusal", () => {
  const refused = (status: number, code: string) => () =>
    expectData({
      data: null,
      status,
      error: { status, value: { error: { message: 'No.', type: 't', code, request_id: 'req_1' } } },
    })

  test.each([
    [400, 2],
    [401, 4],
    [402, 6],
    [403, 4],
    [404, 3],
    [409, 5],
    [422, 5],
    [429, 6],
    [500, 1],
    [503, 7],
    [504, 7],
  ])('%i becomes exit code %i', (status, exitCode) => {
    expect(exitOfStatus(status)).toBe(exitCode)
  })

  test('keeps its sentence, its code and its request id', () => {
    expect(refused(404, 'not_found')).toThrow(
      expect.objectContaining({ message: 'No.', code: 'not_found', requestId: 'req_1', help: 'error not_found' }),
    )
  })

  test.each([
    ['Sign in with POST /auth/sessions.', 'Sign in with svc-admin users link.', undefined],
    ['GET /orgs/{id}/members lists them.', 'svc-admin members list lists them.', undefined],
    ['Revoke it with DELETE /keys/{id}.', 'Revoke it with svc-admin keys revoke.', undefined],
    ['Send it to POST /nowhere.', 'Send it to POST /nowhere.', undefined],
    ['No organization with this id.', 'No organization with this id.', 'svc-admin orgs list'],
  ])('names commands where it names routes: %s', async (message, shown, fix) => {
    const failure = replyFailure(400, { error: { message, type: 't', code: 'c', request_id: null } })
    expect(failure).toMatchObject({ message: shown })
    expect(failure.fix).toBe(fix)
    const named = /svc-admin (\w+ \w+)/.exec(`${shown} ${fix}`)?.[1]
    if (named) expect((await allCommands()).map(({ path }) => path)).toContain(named)
  })

  test('without a readable body says only the status', () => {
    expect(() => expectData({ data: null, status: 502, error: { status: 502, value: '<html>' } })).toThrow(
      'The server answered 502 without a reason.',
    )
  })
})

describe('help', () => {
  test.each(Object.keys(ERROR_PAGES))('error %s explains cause, cure and whether to try again', async (code) => {
    const { exitCode, stdout } = await cli(['help', 'error', code])
    expect(exitCode).toBe(0)
    for (const word of ['code', 'status', 'means', 'fix', 'retry']) expect(stdout).toMatch(new RegExp(`^${word} `, 'm'))
  })

  test.each([[['help']], [[]], [['keys']], [['keys', 'create', '--help']], [['help', 'exit-codes']]])(
    '%j is on stdout and fits 80 columns',
    async (line) => {
      const { exitCode, stdout, stderr } = await cli(line)
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      const wide = stdout.split('\n').filter((one) => one.length > 80 && !one.includes('svc-admin'))
      expect(wide.filter((one) => one.startsWith(' '))).toEqual([])
    },
  )

  test('lists every command for programs, with what it changes', async () => {
    const { stdout } = await cli('commands --json')
    expect(JSON.parse(stdout).find(({ command }: { command: string }) => command === 'keys revoke')).toMatchObject({
      schema_version: 1,
      impact: 'rw',
      danger: 'moderate',
      exit_codes: expect.arrayContaining([3]),
    })
  })
})

test.each([
  ['ENOENT', 'There is no file notes.json.', 'write its path from the current folder'],
  ['EISDIR', 'notes.json is a folder, but the command needs a file.', 'use one of the files in it'],
  ['EACCES', 'You do not have permission to read notes.json.', 'chmod u+r notes.json, as its owner'],
  ['EIO', 'notes.json cannot be read (EIO).', 'check that the file and its disk are not damaged'],
])('a file that cannot be read says why, and what to do: %s', (code, message, fix) => {
  expect(unreadable('notes.json', Object.assign(new Error(code), { code }))).toMatchObject({
    exitCode: 2,
    message,
    fix,
  })
})
