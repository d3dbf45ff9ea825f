import { describe, expect, test } from 'bun:test'
import { resourceOf } from '../../cli/command'
import { EXIT_MEANINGS } from '../../cli/failure'
import { GLOBAL_FLAGS } from '../../cli/globals'
import { helpFor } from '../../cli/help'
import { parse } from '../../cli/parse'
import { allCommands, commandsUnder } from '../../cli/registry'
import { sentencesOf, wordsIn } from '../support/citations'

const commands = await allCommands()

const LETTERS = 'ofqyvwnh'
const MAX_WORDS = 25

const longSentences = (texts: readonly string[]): string[] =>
  texts.flatMap(sentencesOf).filter((sentence) => wordsIn(sentence) > MAX_WORDS)

describe.each(commands.map((command) => [command.path, command] as const))('%s', (_path, command) => {
  test('has a summary without a full stop, and an explanation', () => {
    expect(command.summary).toMatch(/^[A-Z].{8,75}[^.]$/)
    expect(command.about.length).toBeGreaterThan(20)
  })

  test('has two examples or more, and each of them parses as this command', () => {
    expect(command.examples.length).toBeGreaterThanOrEqual(2)
    for (const example of command.examples) {
      const input = parse(words(example), commands, {})
      expect(input.type === 'run' ? input.command.path : input.type).toBe(command.path)
    }
  })

  test('takes the start of each id, and drops the id of a list last', () => {
    for (const { about } of Object.values(command.args))
      if (/^ids? of /.test(about)) expect(about).toMatch(/start|beginning|name/)
    expect(command.columns?.find(({ field }) => field === 'id')?.min).toBeUndefined()
  })

  test('says where it works and what it may exit with', () => {
    expect(command.apis.length).toBeGreaterThan(0)
    for (const code of command.exits) expect(EXIT_MEANINGS).toHaveProperty(String(code))
  })

  test('has no flag that every command has, and explains each of its own', () => {
    for (const [name, flag] of Object.entries({ ...command.flags, ...command.args })) {
      expect(GLOBAL_FLAGS).not.toHaveProperty(name)
      expect(flag.about.length).toBeGreaterThan(5)
    }
  })

  test(`says it in sentences of ${MAX_WORDS} words at most`, () => {
    const words = Object.values({ ...command.args, ...command.flags }).map(({ about }) => about)
    expect(longSentences([command.summary, command.about, ...words])).toEqual([])
  })

  test('names its columns once, in words a script can use', () => {
    const fields = (command.columns ?? []).map(({ field }) => field)
    expect(new Set(fields).size).toBe(fields.length)
    for (const field of fields) expect(field).toMatch(/^[a-z][A-Za-z0-9_.]*$/)
  })
})

test(`the flags of every command are explained in ${MAX_WORDS} words at most`, () => {
  expect(longSentences(Object.values(GLOBAL_FLAGS).map(({ about }) => about))).toEqual([])
})

test('help fits into 80 columns, but for examples, which are copied as one line', () => {
  const texts = [helpFor([], commands), ...commands.map(({ path }) => helpFor(path.split(' '), commands))]
  const long = texts.flatMap((text) => text.split('\n')).filter((line) => line.length > 80)
  expect(long.filter((line) => !line.startsWith('  svc-admin '))).toEqual([])
})

test('--watch repeats commands that read, and of the others only doctor', () => {
  const watched = commands.filter(({ watchable }) => watchable)
  expect(watched.map(({ path }) => path)).toEqual(expect.arrayContaining(['keys list', 'orgs get', 'usage show']))
  expect(watched.filter(({ impact }) => impact === 'write').map(({ path }) => path)).toEqual(['doctor'])
})

test('every path is there once', () => {
  const paths = commands.map(({ path }) => path)
  expect(new Set(paths).size).toBe(paths.length)
})

test('no noun is also a verb of its own', () => {
  const resources = commands.map(resourceOf)
  expect(commands.map(({ path }) => path).filter((path) => resources.includes(path))).toEqual([])
})

test('one letter stands for one flag, from the agreed letters', () => {
  const all = [...Object.values(GLOBAL_FLAGS), ...commands.flatMap(({ flags }) => Object.values(flags))]
  const letters = all.flatMap((flag) => ('short' in flag && flag.short ? [flag.short] : []))
  for (const letter of letters) expect(LETTERS).toContain(letter)
})

/** Splits as a shell would, for the quoting the examples use. */
function words(line: string): string[] {
  const [command] = line.split(/ (?:[|<>]|&&) /)
  return [...command!.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  )
}

test.each([...new Set(commands.map(({ path }) => path.split(' ')[0]!))])(
  '%s alone loads each of its commands',
  async (word) => {
    const own = commands.filter(({ path }) => path.split(' ')[0] === word)
    expect(own.length).toBeGreaterThan(0)
    expect(await commandsUnder(word)).toEqual(own)
  },
)

test('an unknown word loads no command', () => {
  expect(commandsUnder('nothing')).toBeNull()
})
