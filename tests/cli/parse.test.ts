import { describe, expect, test } from 'bun:test'
import { CommandFailed } from '../../cli/failure'
import { parse } from '../../cli/parse'
import { allCommands } from '../../cli/registry'

const commands = await allCommands()

function order(line: string[], env: Record<string, string> = {}) {
  const read = parse(line, commands, env)
  return read.type === 'run' ? { path: read.command.path, input: read.input, globals: read.globals } : read
}

function refusal(line: string[], env: Record<string, string> = {}): CommandFailed {
  try {
    parse(line, commands, env)
  } catch (error) {
    if (error instanceof CommandFailed) return error
    throw error
  }
  throw new Error(`${line.join(' ')} was accepted`)
}

describe('a command line', () => {
  test('becomes a command with typed arguments and flags', () => {
    expect(order(['credits', 'grant', 'acme', '50.00', '--note', 'pilot', '--reason', 'why'])).toEqual({
      path: 'credits grant',
      input: { owner: 'acme', amount: 5_000, note: 'pilot' },
      globals: { reason: 'why' },
    })
  })

  test('takes the flags of every command before or after the noun', () => {
    const after = order(['keys', 'list', '-o', 'json', '--no-input', '-q'])
    expect(order(['-q', '--no-input', '-o', 'json', 'keys', 'list'])).toEqual(after)
    expect(after).toMatchObject({ globals: { output: 'json', noInput: true, quiet: true } })
  })

  test('takes the singular of a noun', () => {
    expect(order(['key', 'get', 'ci'])).toMatchObject({ path: 'keys get', input: { key: 'ci' } })
  })

  test('collects a flag that may be repeated, and splits a list', () => {
    const line = ['keys', 'create', '--origin', 'https://a', '--origin', 'https://b', '--scopes', 'tools, skills']
    expect(order(line)).toMatchObject({ input: { origin: ['https://a', 'https://b'], scopes: ['tools', 'skills'] } })
  })

  test('leaves a word that follows --watch alone', () => {
    expect(order(['--watch', 'status'])).toMatchObject({ path: 'status', globals: { watch: true } })
    expect(order(['status', '--watch=5s'])).toMatchObject({ globals: { watch: true, watchEvery: 5_000 } })
  })

  test('reads letters written together, and a value written to its flag', () => {
    const written = order(['keys', 'create', '-qyojson', '--name=a=b'])
    expect(written).toMatchObject({ input: { name: 'a=b' }, globals: { quiet: true, yes: true, output: 'json' } })
  })

  test('reads a flag from its environment variable unless it is given', () => {
    expect(order(['status'], { SVC_OUTPUT: 'yaml' })).toMatchObject({ globals: { output: 'yaml' } })
    expect(order(['status', '-o', 'csv'], { SVC_OUTPUT: 'yaml' })).toMatchObject({ globals: { output: 'csv' } })
    expect(order(['status'], { SVC_NO_INPUT: '0' })).toMatchObject({ globals: { noInput: false } })
  })

  test('takes a value that begins like flags', () => {
    const key = `-qyo${'a'.repeat(39)}`
    expect(order(['audit', 'verify', '--public-key', key, '-q'])).toEqual({
      path: 'audit verify',
      input: { publicKey: key },
      globals: { quiet: true },
    })
  })

  test('takes words after -- as they are', () => {
    expect(order(['try', '--', '--help'])).toMatchObject({ path: 'try', input: { prompt: '--help' } })
  })

  test.each([
    [[], []],
    [['--help'], []],
    [['keys'], ['keys']],
    [['key', '--help'], ['keys']],
    [
      ['keys', 'create', '--name', 'x', '-h'],
      ['keys', 'create'],
    ],
    [
      ['keys', 'get', '--help'],
      ['keys', 'get'],
    ],
  ])('%j asks for help about %j', (line, about) => {
    expect(order(line)).toEqual({ type: 'help', about })
  })

  test('--version is the command version', () => {
    expect(order(['--version'])).toMatchObject({ path: 'version' })
  })
})

describe('a refused command line', () => {
  const refusals: [string[], string][] = [
    [['kyes', 'list'], 'There is no command "svc-admin kyes". Did you mean keys?'],
    [['keys', 'lst'], 'There is no command "svc-admin keys lst". Did you mean list?'],
    [['keys', 'list', '--org-id', 'x'], 'keys list has no flag --org-id. Did you mean --org?'],
    [['keys', 'get'], 'keys get needs KEY: id, 6 or more characters of it, prefix or name of a key.'],
    [['keys', 'get', 'a', 'b'], 'keys get takes fewer arguments.'],
    [['users', 'sessions', 'ada@example.com'], 'VERB is "ada@example.com"; it must be one of list, end.'],
    [
      ['users', 'sessions', 'list'],
      'users sessions needs USER: account by id, 6 or more characters of it, or e-mail address.',
    ],
    [['keys', 'create', '--tier', 'gold'], '--tier is "gold"; it must be one of free, starter, pro, enterprise.'],
    [['keys', 'create', '--name'], '--name needs a value after it.'],
    [['keys', 'create', '--name', '--tier', 'pro'], '--name needs a value after it.'],
    [['keys', 'list', '--json=yes'], '--json takes no value.'],
    [['orgs', 'create', '--name', 'Acme'], 'orgs create takes NAME without --name.'],
    [['deliveries', 'tail', '--name', 'x'], 'deliveries tail has no flag --name.'],
    [['--loud', 'keys', 'list'], 'There is no flag --loud.'],
    [['keys', 'get', ''], 'KEY is empty.'],
    [['keys', 'create', '--rpm', '1.5'], '--rpm is "1.5"; it must be a whole number from 1 to 1000000000.'],
    [['credits', 'grant', 'acme', '50'], 'AMOUNT is "50", without a unit; write 50.00 for currency or 50c for cents.'],
    [['credits', 'grant', 'acme', '0.00'], 'AMOUNT is "0.00"; it must be above zero and at most 90000000.00.'],
    [
      ['credits', 'grant', 'acme', '90000000.01'],
      'AMOUNT is "90000000.01"; it must be above zero and at most 90000000.00.',
    ],
    [['credits', 'grant', 'acme', '-5.00'], 'AMOUNT is "-5.00"; write 50.00 for currency or 5000c for cents.'],
    [
      ['status', '-o', 'xml'],
      '--output is "xml"; it must be one of table, wide, json, jsonl, yaml, csv, id, none, nagios, prometheus.',
    ],
    [['policies', 'apply', '--prune'], 'policies apply needs --file.'],
    [['tiers', 'set', 'ci', 'gold'], 'TIER is "gold"; it must be one of free, starter, pro, enterprise.'],
    [['status', '--timeout', 'soon'], '--timeout is "soon"; write a number and a unit: 30s, 5m, 24h, 90d.'],
  ]

  test.each(refusals)('%j says what is wrong, with its value', (line, message) => {
    const { exitCode, message: text } = refusal(line)
    expect({ exitCode, text }).toEqual({ exitCode: 2, text: message })
  })

  test('names the environment variable that a bad value came from', () => {
    expect(refusal(['status'], { SVC_OUTPUT: 'xml' }).message).toStartWith('SVC_OUTPUT (--output) is "xml"')
  })
})
